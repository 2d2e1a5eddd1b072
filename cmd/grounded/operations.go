package main

import (
	"encoding"
	"fmt"
	"os"
	"reflect"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/grounded-memory/grounded"
	"github.com/grounded-memory/grounded/internal/operation"
)

// operationCommands makes one command of each row of the operation table. Its
// flags are the fields of the request, so the table is the only place where an
// operation is described.
func operationCommands(env *environment) []*cobra.Command {
	var out []*cobra.Command
	for _, op := range operation.All() {
		out = append(out, newOperationCommand(env, op))
	}
	return out
}

func newOperationCommand(env *environment, op operation.Operation) *cobra.Command {
	var whole string
	var fields []*fieldFlag
	takesFile := op.Name == "verify" || op.Name == "pack"
	use, positional := op.Name, cobra.NoArgs
	if takesFile {
		use, positional = op.Name+" [FILE|-]", cobra.MaximumNArgs(1)
	}
	cmd := &cobra.Command{
		Use:     use,
		Short:   op.Summary,
		GroupID: "operations",
		Args:    positional,
		RunE: func(cmd *cobra.Command, files []string) error {
			args, err := argumentsOf(cmd, whole, fields)
			if err == nil && len(files) > 0 {
				args, err = withCertificate(cmd, args, files[0])
			}
			if err != nil {
				return err
			}
			return env.withMemory(cmd.Context(), func(m *grounded.Memory) error {
				result, err := op.Call(cmd.Context(), m, args)
				if err != nil {
					return err
				}
				return env.print(result)
			})
		},
	}
	if strings.Contains(op.Name, "_") {
		cmd.Aliases = []string{strings.ReplaceAll(op.Name, "_", "-")}
	}
	fields = fieldFlags(op.Request)
	for _, f := range fields {
		f.define(cmd)
	}
	cmd.Flags().StringVar(&whole, "json", "", "the whole request as JSON, or @FILE, or - for standard input; flags override its fields")
	return cmd
}

// withCertificate adds to arguments the certificate of a file, or of standard
// input: a certificate, or a result that holds one.
func withCertificate(cmd *cobra.Command, args []byte, name string) ([]byte, error) {
	var text string
	var err error
	if name == "-" {
		text, err = readAll(cmd.InOrStdin())
	} else {
		var data []byte
		data, err = os.ReadFile(name)
		text = string(data)
	}
	if err != nil {
		return nil, err
	}
	certificate, err := grounded.CertificateIn([]byte(text))
	if err != nil {
		return nil, err
	}
	fields := map[string]jsontext.Value{}
	if err := json.Unmarshal(args, &fields); err != nil {
		return nil, err
	}
	if fields["certificate"], err = json.Marshal(certificate); err != nil {
		return nil, err
	}
	return json.Marshal(fields, json.Deterministic(true))
}

// print writes a result as indented JSON.
func (env *environment) print(result any) error {
	data, err := grounded.EncodeResult(result)
	if err != nil {
		return err
	}
	v := jsontext.Value(data)
	if err := v.Indent(jsontext.WithIndent("  ")); err != nil {
		return err
	}
	_, err = fmt.Fprintf(env.out, "%s\n", v)
	return err
}

// fieldFlag is a flag for one field of a request.
type fieldFlag struct {
	name, flag string
	typ        reflect.Type
	text       string
	list       []string
}

// fieldFlags lists the fields of a request type, embedded ones included.
func fieldFlags(t reflect.Type) []*fieldFlag {
	var out []*fieldFlag
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous {
			out = append(out, fieldFlags(f.Type)...)
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		typ := f.Type
		for typ.Kind() == reflect.Pointer {
			typ = typ.Elem()
		}
		out = append(out, &fieldFlag{name: name, flag: strings.ReplaceAll(name, "_", "-"), typ: typ})
	}
	return out
}

var textType = reflect.TypeFor[encoding.TextUnmarshaler]()

func (f *fieldFlag) isText() bool {
	return f.typ.Kind() == reflect.String || f.typ == reflect.TypeFor[time.Time]() ||
		f.typ == reflect.TypeFor[grounded.Expiry]() || reflect.PointerTo(f.typ).Implements(textType)
}

func (f *fieldFlag) define(cmd *cobra.Command) {
	if f.typ.Kind() == reflect.Slice {
		cmd.Flags().StringArrayVar(&f.list, f.flag, nil, f.name+" (may be repeated)")
		return
	}
	usage := f.name
	if !f.isText() && f.typ.Kind() == reflect.Struct {
		usage += " as JSON, or @FILE"
	}
	cmd.Flags().StringVar(&f.text, f.flag, "", usage)
}

// value is the flag's value as JSON.
func (f *fieldFlag) value() (jsontext.Value, error) {
	switch {
	case f.typ.Kind() == reflect.Slice:
		return f.listValue()
	case f.typ == reflect.TypeFor[grounded.Expiry]() && (f.text == "null" || f.text == "none"):
		return jsontext.Value("null"), nil
	case f.isText():
		return json.Marshal(f.text)
	}
	text, err := fileOrText(f.text)
	if err != nil {
		return nil, err
	}
	v := jsontext.Value(text)
	if !v.IsValid() {
		return nil, fmt.Errorf("--%s: %q is not JSON", f.flag, f.text)
	}
	return v, nil
}

func (f *fieldFlag) listValue() (jsontext.Value, error) {
	items := make([]jsontext.Value, 0, len(f.list))
	for _, text := range f.list {
		item := jsontext.Value(text)
		if f.typ.Elem().Kind() == reflect.String {
			item, _ = json.Marshal(text)
		}
		if !item.IsValid() {
			return nil, fmt.Errorf("--%s: %q is not JSON", f.flag, text)
		}
		items = append(items, item)
	}
	return json.Marshal(items)
}

// argumentsOf builds the request's JSON from --json and the flags.
func argumentsOf(cmd *cobra.Command, whole string, fields []*fieldFlag) ([]byte, error) {
	args := map[string]jsontext.Value{}
	if whole != "" {
		text, err := wholeText(cmd, whole)
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal([]byte(text), &args); err != nil {
			return nil, fmt.Errorf("--json: %w", err)
		}
	}
	for _, f := range fields {
		if !cmd.Flags().Changed(f.flag) {
			continue
		}
		v, err := f.value()
		if err != nil {
			return nil, err
		}
		args[f.name] = v
	}
	return json.Marshal(args, json.Deterministic(true))
}

func wholeText(cmd *cobra.Command, whole string) (string, error) {
	if whole == "-" {
		return readAll(cmd.InOrStdin())
	}
	return fileOrText(whole)
}

// fileOrText reads the file of an argument such as @FILE, else gives the argument.
func fileOrText(text string) (string, error) {
	name, isFile := strings.CutPrefix(text, "@")
	if !isFile {
		return text, nil
	}
	data, err := os.ReadFile(name)
	return string(data), err
}
