package grounded_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/grounded-memory/grounded"

// imports is the architecture: which package of this module may import which.
// The root is "."; docs/architecture.md draws the same table.
var imports = map[string][]string{
	".": {
		"internal/canonical", "internal/datalog", "internal/facts", "internal/index", "internal/notes", "internal/packing", "internal/question",
		"internal/rank", "internal/rank/bank", "internal/rewrite", "internal/scopedigest", "internal/screen", "internal/sqlite",
		"internal/textform", "tokenizer",
	},
	"client":               {".", "internal/operation"},
	"cmd/grounded":         {".", "client", "examples", "httpapi", "hub", "internal/demo", "internal/eval", "internal/explain", "internal/ingest", "internal/operation", "internal/rank/bank", "internal/setup", "mcpserver"},
	"cmd/trainbanks":       {"internal/eval", "internal/rank", "internal/rank/bank", "internal/training"},
	"examples":             {},
	"httpapi":              {".", "internal/operation"},
	"hub":                  {"internal/rank/bank"},
	"internal/canonical":   {},
	"internal/conformance": {".", "internal/canonical", "internal/operation"},
	"internal/datalog":     {},
	"internal/diagram":     {},
	"internal/demo":        {".", "internal/diagram", "internal/explain"},
	"internal/explain":     {".", "internal/diagram"},
	"internal/eval":        {"internal/notes", "internal/rank", "internal/rank/bank", "internal/rewrite", "internal/textform"},
	"internal/facts":       {},
	"internal/index":       {"internal/facts", "internal/notes", "internal/rewrite", "internal/scopedigest"},
	"internal/ingest":      {"internal/canonical", "internal/textform"},
	"internal/notes":       {"internal/textform"},
	"internal/operation":   {"."},
	"internal/packing":     {},
	"internal/question":    {"internal/textform"},
	"internal/rank":        {"internal/notes", "internal/textform"},
	"internal/rank/bank":   {"internal/notes", "internal/rank"},
	"internal/rewrite":     {"internal/textform"},
	"internal/scopedigest": {},
	"internal/screen":      {"internal/textform"},
	"internal/setup":       {},
	"internal/sqlite":      {},
	"internal/textform":    {},
	"internal/training":    {"internal/eval", "internal/notes", "internal/rank", "internal/rank/bank", "internal/textform"},
	"mcpserver":            {".", "internal/operation"},
	"tokenizer":            {},
}

// sources yields every Go file of the module that is not a test, by package.
func sources(t *testing.T, visit func(dir string, file *ast.File, set *token.FileSet)) {
	t.Helper()
	err := filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if _, err := os.Stat(filepath.Join(name, "go.mod")); name != "." && err == nil || strings.HasPrefix(entry.Name(), ".") && name != "." || entry.Name() == "testdata" || entry.Name() == "node_modules" {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		visit(path.Dir(filepath.ToSlash(name)), file, set)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestLayout holds the star: leaves know neither the root nor each other, and
// nothing but what the table says.
func TestLayout(t *testing.T) {
	seen := map[string]bool{}
	sources(t, func(dir string, file *ast.File, set *token.FileSet) {
		allowed, ok := imports[dir]
		if !ok {
			if !seen[dir] {
				t.Errorf("package %s is not in the table", dir)
			}
			seen[dir] = true
			return
		}
		seen[dir] = true
		for _, spec := range file.Imports {
			name, _ := strconv.Unquote(spec.Path.Value)
			rest, ours := strings.CutPrefix(name, module)
			if !ours {
				continue
			}
			if rest = strings.TrimPrefix(rest, "/"); rest == "" {
				rest = "."
			}
			if !slices.Contains(allowed, rest) {
				t.Errorf("%s: package %s must not import %s", set.Position(spec.Pos()), dir, rest)
			}
		}
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
				t.Errorf("%s: an init function", set.Position(f.Pos()))
			}
		}
	})
	for dir := range imports {
		if !seen[dir] {
			t.Errorf("the table names package %s, which is not there", dir)
		}
	}
}

// TestEveryExportedNameIsDocumented holds for all packages, internal ones too.
func TestEveryExportedNameIsDocumented(t *testing.T) {
	documented := map[string]bool{}
	sources(t, func(dir string, file *ast.File, set *token.FileSet) {
		documented[dir] = documented[dir] || file.Doc != nil
		for _, decl := range file.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				if d.Name.IsExported() && exportedReceiver(d) && d.Doc == nil && !isInterfaceMethod(d.Name.Name) {
					t.Errorf("%s: %s has no comment", set.Position(d.Pos()), d.Name.Name)
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					checkSpec(t, set, d, spec)
				}
			}
		}
	})
	for dir, ok := range documented {
		if !ok {
			t.Errorf("package %s has no package comment", dir)
		}
	}
}

func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	typ := d.Recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	if generic, ok := typ.(*ast.IndexExpr); ok {
		typ = generic.X
	}
	name, ok := typ.(*ast.Ident)
	return ok && name.IsExported()
}

// isInterfaceMethod lists methods whose meaning is the standard library's.
func isInterfaceMethod(name string) bool {
	return slices.Contains([]string{"Len", "Less", "Swap", "Push", "Pop"}, name)
}

func checkSpec(t *testing.T, set *token.FileSet, d *ast.GenDecl, spec ast.Spec) {
	t.Helper()
	switch s := spec.(type) {
	case *ast.TypeSpec:
		if s.Name.IsExported() && d.Doc == nil && s.Doc == nil {
			t.Errorf("%s: type %s has no comment", set.Position(s.Pos()), s.Name.Name)
		}
	case *ast.ValueSpec:
		for _, name := range s.Names {
			if name.IsExported() && d.Doc == nil && s.Doc == nil && s.Comment == nil {
				t.Errorf("%s: %s has no comment", set.Position(s.Pos()), name.Name)
			}
		}
	}
}

// TestFilesAreShort: a file is read in one sitting.
func TestFilesAreShort(t *testing.T) {
	const most = 700
	sources(t, func(_ string, file *ast.File, set *token.FileSet) {
		if lines := set.File(file.Pos()).LineCount(); lines > most {
			t.Errorf("%s has %d lines; split it", set.File(file.Pos()).Name(), lines)
		}
	})
}
