//go:build !linux

package sqlite

// turn does nothing on systems without locks that belong to an open file.
type turn struct{}

func openTurn(string) (*turn, error) { return &turn{}, nil }
func (*turn) take(func() bool)       {}
func (*turn) give()                  {}
func (*turn) close() error           { return nil }
