package grounded_test

import (
	"os"

	"pgregory.net/rapid"
)

// tempDir is a folder for one run of a property.
func tempDir(t *rapid.T) string {
	dir, err := os.MkdirTemp("", "grounded-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}
