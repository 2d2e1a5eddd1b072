package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"grounded": main})
}

// TestScripts runs the real binary as a user types.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "script"),
		Setup: func(env *testscript.Env) error {
			env.Setenv("GROUNDED_DB", filepath.Join(env.WorkDir, "memory.db"))
			env.Setenv("HOME", env.WorkDir)
			root, err := filepath.Abs(filepath.Join("..", ".."))
			env.Setenv("REPOSITORY", root)
			return err
		},
	})
}

// TestReadme runs every console line of the README's shell section in one
// shell, in order: what a newcomer copies must work.
func TestReadme(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the binary")
	}
	root := filepath.Join("..", "..")
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	lines := consoleLines(string(readme))
	if len(lines) < 10 {
		t.Fatalf("only %d console lines found", len(lines))
	}
	bin := t.TempDir()
	build := exec.Command("go", "build", "-o", filepath.Join(bin, "grounded"), ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	script := "set -e\n"
	for _, line := range lines {
		line = strings.ReplaceAll(line, "/tmp/try-grounded", filepath.Join(bin, "try"))
		line = strings.ReplaceAll(line, "go run ./cmd/grounded", "grounded")
		if strings.HasPrefix(line, "go ") || strings.Contains(line, "# not run by the tests") {
			continue // the test itself, and installing
		}
		script += "echo '$ '" + quote(line) + "\n" + line + "\n"
	}
	cmd := exec.Command("sh", "-c", script)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "HOME="+bin)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{"answered", "Ada", "no problem found", `"status":"packed"`} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the README's commands never print %q:\n%s", want, out)
		}
	}
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// consoleLines returns the commands of the console blocks of a page.
func consoleLines(page string) []string {
	var out []string
	inside := false
	for _, line := range strings.Split(page, "\n") {
		switch {
		case strings.HasPrefix(line, "```"):
			inside = line == "```console"
		case inside && strings.HasPrefix(line, "$ "):
			out = append(out, strings.TrimPrefix(line, "$ "))
		}
	}
	return out
}
