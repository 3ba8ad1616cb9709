// Package schematest holds JSON against JSON schemas.
package schematest

import (
	"bytes"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Schema is a schema that a test holds JSON against.
type Schema struct{ compiled *jsonschema.Schema }

// Compile returns the schema at a place of a document, such as "#/components/schemas/Key"; "" is
// the document itself. It fails the test if that is no schema of 2020-12.
func Compile(t testing.TB, document []byte, at string) Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
	if err != nil {
		t.Fatal(err)
	}
	const url = "https://gatehouse.example/schema.json"
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	if err := c.AddResource(url, doc); err != nil {
		t.Fatal(err)
	}
	compiled, err := c.Compile(url + at)
	if err != nil {
		t.Fatal(err)
	}
	return Schema{compiled}
}

// Check returns what is wrong with a text, nil if it is JSON that fits.
func (s Schema) Check(text []byte) error {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return err
	}
	return s.compiled.Validate(value)
}
