package operation

import (
	"reflect"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/grounded-memory/grounded"
)

// RequestSchema returns the JSON Schema of the operation's arguments. Like the
// decoder, it takes no members but those that it names.
func (o Operation) RequestSchema() (*jsonschema.Schema, error) {
	s, err := schemaOf(o.Request)
	if err == nil {
		shut(s)
	}
	return s, err
}

// ResultSchema returns the JSON Schema of the operation's result. Later
// versions may add fields, so it allows more than it names.
func (o Operation) ResultSchema() (*jsonschema.Schema, error) {
	s, err := schemaOf(o.Result)
	if err == nil {
		open(s)
	}
	return s, err
}

func schemaOf(t reflect.Type) (*jsonschema.Schema, error) {
	return jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: typeSchemas()})
}

// shut lets objects have no more members than are named. A schema that stands
// for an embedded struct cannot say so itself.
func shut(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if s.Properties != nil && s.AdditionalProperties == nil {
		s.AdditionalProperties = &jsonschema.Schema{Not: &jsonschema.Schema{}}
	}
	for _, p := range s.Properties {
		shut(p)
	}
	shut(s.Items)
}

// open lets objects have more members than are named.
func open(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if s.Properties != nil {
		s.AdditionalProperties = nil
	}
	for _, p := range s.Properties {
		open(p)
	}
	open(s.Items)
}

// typeSchemas are the types whose JSON is not that of their Go fields.
func typeSchemas() map[reflect.Type]*jsonschema.Schema {
	text := func(pattern, format string) *jsonschema.Schema {
		return &jsonschema.Schema{Type: "string", Pattern: pattern, Format: format}
	}
	one := 1.0
	term := &jsonschema.Schema{AnyOf: []*jsonschema.Schema{
		{Type: "string"},
		{
			Type: "object", Required: []string{"literal"}, AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}},
			Properties: map[string]*jsonschema.Schema{"literal": {Type: "string"}},
		},
	}}
	three := 3
	write := &jsonschema.Schema{
		Type: "object", Required: []string{"op", "args"},
		Properties: map[string]*jsonschema.Schema{
			"op":   {Type: "string", Enum: writeNames()},
			"args": {Type: "object"},
		},
		AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}},
	}
	return map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[grounded.RecordID]():    text(`^r[1-9][0-9]*$`, ""),
		reflect.TypeFor[grounded.Digest]():      text(`^[0-9a-f]{64}$`, ""),
		reflect.TypeFor[grounded.TTL]():         {Type: "string", Examples: []any{"90s", "720h"}},
		reflect.TypeFor[time.Time]():            text("", "date-time"),
		reflect.TypeFor[grounded.Expiry]():      {Types: []string{"string", "null"}, Format: "date-time"},
		reflect.TypeFor[grounded.Term]():        term,
		reflect.TypeFor[grounded.Atom]():        {Type: "array", MinItems: &three, MaxItems: &three, Items: term},
		reflect.TypeFor[grounded.WriteItem]():   write,
		reflect.TypeFor[grounded.Certificate](): {Type: "object"},
		reflect.TypeFor[grounded.Cardinality](): {Type: "string", Enum: []any{grounded.Single, grounded.Multi}},
		reflect.TypeFor[grounded.Modality]():    {Type: "string", Enum: []any{grounded.Asserted, grounded.Quoted, grounded.Hypothesized}},
		reflect.TypeFor[grounded.Kind]():        {Type: "string", Enum: []any{grounded.KindClaim, grounded.KindNote, grounded.KindBridge, grounded.KindRelation}},
		reflect.TypeFor[grounded.State](): {Type: "string", Enum: []any{
			grounded.StateEligible, grounded.StateCorrected, grounded.StateForgotten, grounded.StateExpired, grounded.StateInstructionLike,
		}},
		reflect.TypeFor[grounded.PackOptions](): {
			Type: "object",
			Properties: map[string]*jsonschema.Schema{
				"budget":           {Type: "integer", Minimum: &one},
				"tokenizer":        {Type: "string"},
				"format":           {Type: "string", Enum: []any{"json", "text"}},
				"max_combinations": {Type: "integer", Minimum: &one},
			},
		},
	}
}

// writeNames are the operations that may stand in a batch of writes.
func writeNames() []any {
	return []any{"remember", "note", "declare_relation", "remember_bridge", "correct", "forget"}
}
