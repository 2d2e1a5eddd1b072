package main

import "runtime/debug"

// version is the program's version, as the Go tool built it in.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "unknown"
	}
	return info.Main.Version
}
