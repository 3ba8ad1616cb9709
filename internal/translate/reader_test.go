package translate_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/translatetest"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// open returns the reader of an object in the member o of a request.
func open(t testing.TB, text string, failed *error) translate.Reader {
	t.Helper()
	var b jsonscan.Body
	if err := b.Parse([]byte(`{"o":` + text + `}`)); err != nil {
		t.Fatal(err)
	}
	o, _ := translate.Read(&b, failed).Object("o")
	return o
}

func TestMembersAreReadByKind(t *testing.T) {
	var err error
	o := open(t, `{"text":"a\nb","number":7,"yes":true,"no":false,"null":null,"type":"x","inner":{"a":1}}`, &err)
	if text := o.Text("text"); string(text) != `"a\nb"` || err != nil {
		t.Errorf("text %s, %v", text, err)
	}
	if text := translate.NonEmptyText(o, "text"); string(text) != `"a\nb"` || err != nil {
		t.Errorf("text %s, %v", text, err)
	}
	if text := o.DecodedText("text"); text != "a\nb" || err != nil {
		t.Errorf("decoded %q, %v", text, err)
	}
	if value, n := o.Int("number", 1); string(value) != "7" || n != 7 || err != nil {
		t.Errorf("number %s %d, %v", value, n, err)
	}
	for key, want := range map[string]bool{"yes": true, "no": false, "null": false, "absent": false} {
		if got := o.Bool(key); got != want || err != nil {
			t.Errorf("%s: %v, %v", key, got, err)
		}
	}
	if typ := translate.TypeOf(o); typ != "x" || err != nil {
		t.Errorf("type %q, %v", typ, err)
	}
	if inner, ok := o.Object("inner"); !ok || err != nil || string(inner.Get("a")) != "1" {
		t.Errorf("inner %v, %v", ok, err)
	}
	if text := translate.NonEmptyText(open(t, `{"text":""}`, &err), "text"); text != nil {
		t.Errorf("an empty text is %s", text)
	}
	for _, key := range []string{"null", "absent"} {
		text, some := o.Text(key), translate.NonEmptyText(o, key)
		value, n := o.Int(key, 1)
		_, ok := o.Object(key)
		o.Each(key, 1, func(int, translate.Reader) { o.Fail(errors.New("called")) })
		if o.Get(key) != nil || text != nil || some != nil || value != nil || n != 0 || ok || err != nil {
			t.Errorf("%s is not absent: %s %s %d %v, %v", key, text, value, n, ok, err)
		}
	}
}

func TestAMemberIsRefusedByItsPath(t *testing.T) {
	const object = `{"text":7,"number":0,"flag":"yes","object":[],"list":{},"bad":[{},1]}`
	none := func(int, translate.Reader) {}
	for name, c := range map[string]struct {
		read        func(o translate.Reader)
		param, code string
	}{
		"text":      {func(o translate.Reader) { o.Text("text") }, "o.text", "invalid_value"},
		"required":  {func(o translate.Reader) { o.RequiredText("x") }, "o.x", "missing_required_parameter"},
		"decoded":   {func(o translate.Reader) { o.DecodedText("text") }, "o.text", "invalid_value"},
		"type":      {func(o translate.Reader) { translate.TypeOf(o) }, "o.type", "missing_required_parameter"},
		"int":       {func(o translate.Reader) { o.Int("number", 1) }, "o.number", "invalid_value"},
		"int text":  {func(o translate.Reader) { o.Int("flag", 0) }, "o.flag", "invalid_value"},
		"flag":      {func(o translate.Reader) { o.Bool("flag") }, "o.flag", "invalid_value"},
		"object":    {func(o translate.Reader) { o.Object("object") }, "o.object", "invalid_value"},
		"no object": {func(o translate.Reader) { o.RequiredObject("x") }, "o.x", "missing_required_parameter"},
		"list":      {func(o translate.Reader) { o.Each("list", 2, none) }, "o.list", "invalid_value"},
		"element":   {func(o translate.Reader) { o.Each("bad", 2, none) }, "o.bad[1]", "invalid_value"},
		"too many":  {func(o translate.Reader) { o.Each("bad", 1, none) }, "o.bad", "invalid_value"},
		"only":      {func(o translate.Reader) { o.Only("text", "number", "flag", "object") }, "o.list", "unsupported_parameter"},
	} {
		var err error
		if c.read(open(t, object, &err)); err == nil {
			t.Errorf("%s: accepted", name)
			continue
		}
		translatetest.MustRefuse(t, name, err, c.param, c.code)
	}
	var err error
	if _, n := open(t, object, &err).Int("number", 0); n != 0 || err != nil {
		t.Errorf("0 of at least 0: %d, %v", n, err)
	}
}

func TestEachStopsAtAnError(t *testing.T) {
	stop, calls := errors.New("stop"), 0
	var err error
	o := open(t, `{"list":[{},{},{}]}`, &err)
	o.Each("list", 3, func(i int, _ translate.Reader) {
		if calls++; i == 1 {
			o.Fail(stop)
		}
	})
	if err != stop || calls != 2 {
		t.Errorf("%v after %d calls", err, calls)
	}
}

func TestATooLongArrayIsNotWalkedToItsEnd(t *testing.T) {
	allocs := func(elements int) float64 {
		array := []byte("[" + strings.Repeat("1,", elements-1) + "1]")
		return testing.AllocsPerRun(10, func() {
			if _, err := translate.Elements(array, "a", 10); err == nil {
				t.Fatal("accepted")
			}
		})
	}
	// A few more are those of pools, which the collector empties; a walk of all allocates 50.
	if short, long := allocs(11), allocs(1<<20); long > 2*short {
		t.Errorf("refusing 11 elements allocates %v times, a million %v times", short, long)
	}
}

func TestTheFirstFailureOfARequestIsKept(t *testing.T) {
	var err error
	r := open(t, `{"text":7,"inner":{"a":1,"b":2},"list":[{"n":-1},{"n":-2}]}`, &err)
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
	r := open(t, `{"text":7,"flag":"yes","object":[],"n":"x"}`, &err)
	if text := r.RequiredText("text"); string(text) != `""` {
		t.Errorf("text %q, want quotes", text)
	}
	value, n := r.Int("n", 0)
	object := r.RequiredObject("object", "a")
	if r.Text("text") != nil || r.DecodedText("text") != "" || translate.TypeOf(r) != "" || r.Bool("flag") || value != nil || n != 0 || object.Get("a") != nil {
		t.Error("something is not empty")
	}
	translatetest.MustRefuse(t, "text", err, "o.text", "invalid_value")
}
