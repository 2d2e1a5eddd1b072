module github.com/grounded-memory/grounded/bench

go 1.26.0

require github.com/grounded-memory/grounded v0.0.0

replace github.com/grounded-memory/grounded => ../
