package jsonschema_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"testing/fstest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonschema"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/schematest"
)

// Whole has what a struct can have.
type Whole struct {
	Name  string            `json:"name"`
	Count *int              `json:"count"`
	Share *float64          `json:"share,omitempty"`
	At    time.Time         `json:"at,omitzero"`
	Tags  map[string]string `json:"tags,omitempty"`
	Parts []Whole           `json:"parts,omitempty"`
	Any   any               `json:"any,omitempty"`
	Raw   json.RawMessage   `json:"raw,omitempty"`
	Shape Temperature       `json:"shape,omitzero"`
	Plain uint8
	inner
	*Extra
	Left string `json:"-"`
}

type inner struct {
	Deep bool `json:"deep,omitempty"`
}

// Extra is there or not.
type Extra struct {
	Some bool `json:"some"`
	More bool `json:"more"`
}

// Temperature encodes itself.
type Temperature int

func (t Temperature) JSONShape() any { return struct{ Degrees int }{int(t)} }

func (t Temperature) MarshalJSON() ([]byte, error) { return json.Marshal(t.JSONShape()) }

func schemaOf(t *testing.T, m *jsonschema.Maker, of reflect.Type) schematest.Schema {
	t.Helper()
	m.Path = "#/$defs/"
	s := m.Of(of)
	text, err := json.Marshal(jsonschema.Schema{"$defs": m.Defs, "allOf": []jsonschema.Schema{s}})
	if err != nil {
		t.Fatal(err)
	}
	return schematest.Compile(t, text, "")
}

// What encoding/json writes fits the schema, and what it cannot write does not.
func TestWhatIsWrittenFits(t *testing.T) {
	one, half := 1, 0.5
	s := schemaOf(t, &jsonschema.Maker{Written: true}, reflect.TypeFor[Whole]())
	for _, value := range []Whole{
		{},
		{Name: "a", Count: &one, Share: &half, At: time.Unix(1, 0), Tags: map[string]string{"a": "b"}, Parts: []Whole{{}}, Any: 1, Raw: []byte("[]"),
			Shape: 3, Plain: 7, inner: inner{true}, Extra: &Extra{}},
	} {
		text, err := json.Marshal(value)
		if err == nil {
			err = s.Check(text)
		}
		if err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, text := range []string{
		`{}`, `[]`, `null`, `{"name":"a","count":null}`, `{"name":null,"count":null,"Plain":1}`, `{"name":"a","count":1.5,"Plain":1}`,
		`{"name":"a","count":1,"Plain":-1}`, `{"name":"a","count":1,"Plain":1,"Left":"a"}`, `{"name":"a","count":1,"Plain":1,"at":"today"}`,
		`{"name":"a","count":1,"Plain":1,"share":null}`, `{"name":"a","count":1,"Plain":1,"parts":[{}]}`, `{"name":"a","count":1,"Plain":1,"shape":3}`,
	} {
		if s.Check([]byte(text)) == nil {
			t.Errorf("%s fits", text)
		}
	}
}

// A pointer that is read may be left out, and is not null.
func TestWhatIsReadFits(t *testing.T) {
	s := schemaOf(t, &jsonschema.Maker{}, reflect.TypeFor[Whole]())
	for text, good := range map[string]bool{
		`{"name":"a","count":1,"Plain":1}`: true, `{"name":"a","count":null,"Plain":1}`: false, `{"name":"a","Plain":1}`: false,
	} {
		if err := s.Check([]byte(text)); (err == nil) != good {
			t.Errorf("%s: %v", text, err)
		}
	}
}

type opaque struct{}

func (opaque) MarshalJSON() ([]byte, error) { return nil, nil }

func TestATypeThatEncodesItselfNeedsASchema(t *testing.T) {
	of := reflect.TypeFor[opaque]()
	m := jsonschema.Maker{Types: map[reflect.Type]jsonschema.Schema{of: {"type": "string"}}}
	if got := m.Of(of)["type"]; got != "string" {
		t.Errorf("type %v", got)
	}
	defer func() {
		if recover() == nil {
			t.Error("it has a schema")
		}
	}()
	new(jsonschema.Maker).Of(of)
}

func TestCommentsDescribeFields(t *testing.T) {
	found, err := jsonschema.Comments(fstest.MapFS{"a.go": {Data: []byte(`package a
// Key is a key
// of the gateway.
//
// A second paragraph.
type Key struct {
	// Name is its
	// name.
	Name string
	Age  int // in days
	None int
}`)}})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"Key": "Key is a key of the gateway.\n\nA second paragraph.", "Key.Name": "Name is its name.", "Key.Age": "in days", "Key.None": "",
	}
	if !reflect.DeepEqual(found, want) {
		t.Errorf("%q", found)
	}
}
