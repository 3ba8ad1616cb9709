package translate_test

import (
	"errors"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/translatetest"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

func TestTheFirstFailureOfARequestIsKept(t *testing.T) {
	var err error
	r := translate.Read(open(t, `{"text":7,"inner":{"a":1,"b":2},"list":[{"n":-1},{"n":-2}]}`), &err)
	if err != nil {
		t.Fatal(err)
	}
	inner, _ := r.Object("inner", "a")
	inner.RequiredText("c")
	r.Text("text")
	r.Fail(errors.New("later"))
	translatetest.MustRefuse(t, "inner", err, "o.inner.b", "unsupported_parameter")

	err = nil
	elements := 0
	r.Each("list", 2, func(_ int, element translate.Reader) {
		elements++
		element.Int("n", 0)
	})
	translatetest.MustRefuse(t, "element", err, "o.list[0].n", "invalid_value")
	if elements != 1 {
		t.Errorf("read %d elements, want none behind the one that is refused", elements)
	}
}

func TestWhatIsReadBehindAFailureIsEmpty(t *testing.T) {
	var err error
	r := translate.Read(open(t, `{"text":7,"flag":"yes","object":[],"n":"x"}`), &err)
	if text := r.RequiredText("text"); string(text) != `""` {
		t.Errorf("text %q, want quotes", text)
	}
	value, n := r.Int("n", 0)
	object := r.RequiredObject("object", "a")
	if r.Text("text") != nil || r.DecodedText("text") != "" || r.Type() != "" || r.Bool("flag") || value != nil || n != 0 || object.Get("a") != nil {
		t.Error("something is not empty")
	}
	translatetest.MustRefuse(t, "text", err, "o.text", "invalid_value")
}
