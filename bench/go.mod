module github.com/grounded-memory/grounded/bench

go 1.26.0

require (
	github.com/grounded-memory/grounded v0.0.0
	github.com/ncruces/go-sqlite3 v0.37.0
)

require (
	github.com/blevesearch/snowballstem v0.9.0 // indirect
	github.com/clipperhouse/uax29/v2 v2.7.0 // indirect
	github.com/dlclark/regexp2 v1.11.0 // indirect
	github.com/go-json-experiment/json v1.27.2 // indirect
	github.com/klauspost/cpuid/v2 v2.0.12 // indirect
	github.com/ncruces/go-sqlite3-wasm/v6 v6.5.35401 // indirect
	github.com/ncruces/julianday v1.0.0 // indirect
	github.com/pkoukk/tiktoken-go-loader v0.0.2 // indirect
	github.com/zeebo/blake3 v0.2.4 // indirect
	golang.org/x/sys v0.50.0 // indirect
	golang.org/x/text v0.44.0 // indirect
)

replace github.com/grounded-memory/grounded => ../
