package client_test

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// lightProgram uses the client and nothing else.
const lightProgram = `package main

import (
	"fmt"
	"runtime"

	"github.com/grounded-memory/grounded/client"
)

func main() {
	if _, err := client.New("http://127.0.0.1:8750", client.Options{}); err != nil {
		panic(err)
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	fmt.Println(m.TotalAlloc)
}
`

// TestAClientIsLight builds a program with only the client in it. Starting it
// must not pay for the engine: no package of this module or of the store does
// work before main, and nothing embedded is unpacked.
func TestAClientIsLight(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	dir, err := os.MkdirTemp(".", ".light-") // inside the module, out of its packages
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(lightProgram), 0o600); err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(t.TempDir(), "light")
	if out, err := exec.Command("go", "build", "-o", binary, "./"+dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := exec.Command(binary)
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	var traced bytes.Buffer
	cmd.Stderr = &traced
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, traced.String())
	}
	const mostTotal, mostOurs = 8 << 20, 64 << 10
	if total, err := strconv.Atoi(strings.TrimSpace(string(out))); err != nil || total > mostTotal {
		t.Errorf("%d bytes allocated by the start of main, want at most %d (%v)", total, mostTotal, err)
	}
	packages := 0
	for lines := bufio.NewScanner(&traced); lines.Scan(); {
		// init NAME @0.5 ms, 0.01 ms clock, 1234 bytes, 5 allocs
		fields := strings.Fields(lines.Text())
		if len(fields) < 11 || fields[0] != "init" {
			continue
		}
		packages++
		size, err := strconv.Atoi(fields[7])
		if err != nil {
			t.Fatalf("%q: %v", lines.Text(), err)
		}
		if size > mostOurs {
			t.Logf("%s allocates %d bytes before main", fields[1], size)
		}
		if size > mostOurs && (strings.HasPrefix(fields[1], "github.com/grounded-memory/") || strings.Contains(fields[1], "sqlite")) {
			t.Errorf("%s allocates %d bytes before main", fields[1], size)
		}
	}
	if packages == 0 {
		t.Errorf("no trace of package initialisation in %q", traced.String())
	}
	if info, err := os.Stat(binary); err == nil {
		t.Logf("%d bytes of program, %s bytes allocated at the start of main", info.Size(), strings.TrimSpace(string(out)))
	}
}
