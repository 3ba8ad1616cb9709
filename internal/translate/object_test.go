package translate_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/translatetest"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

func open(t testing.TB, text string) translate.Object {
	t.Helper()
	o, err := translate.Open([]byte(text), "o")
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestMembersAreReadByKind(t *testing.T) {
	o := open(t, `{"text":"a\nb","number":7,"yes":true,"no":false,"null":null,"type":"x","inner":{"a":1}}`)
	if text, err := o.Text("text"); string(text) != `"a\nb"` || err != nil {
		t.Errorf("text %s, %v", text, err)
	}
	if text, err := o.DecodedText("text"); text != "a\nb" || err != nil {
		t.Errorf("decoded %q, %v", text, err)
	}
	if value, n, err := o.Int("number", 1); string(value) != "7" || n != 7 || err != nil {
		t.Errorf("number %s %d, %v", value, n, err)
	}
	for key, want := range map[string]bool{"yes": true, "no": false, "null": false, "absent": false} {
		if got, err := o.Bool(key); got != want || err != nil {
			t.Errorf("%s: %v, %v", key, got, err)
		}
	}
	if typ, err := o.Type(); typ != "x" || err != nil {
		t.Errorf("type %q, %v", typ, err)
	}
	if inner, ok, err := o.Object("inner"); !ok || err != nil || string(inner.Get("a")) != "1" {
		t.Errorf("inner %v, %v", ok, err)
	}
	for _, key := range []string{"null", "absent"} {
		text, err1 := o.Text(key)
		value, n, err2 := o.Int(key, 1)
		_, ok, err3 := o.Object(key)
		err4 := o.Each(key, 1, func(int, translate.Object) error { return errors.New("called") })
		if o.Get(key) != nil || text != nil || value != nil || n != 0 || ok || errors.Join(err1, err2, err3, err4) != nil {
			t.Errorf("%s is not absent: %s %s %d %v, %v", key, text, value, n, ok, errors.Join(err1, err2, err3, err4))
		}
	}
}

func TestAMemberIsRefusedByItsPath(t *testing.T) {
	o := open(t, `{"text":7,"number":0,"flag":"yes","object":[],"list":{},"bad":[{},1],"double":{"a":1,"A":2}}`)
	none := func(int, translate.Object) error { return nil }
	for name, c := range map[string]struct {
		err         error
		param, code string
	}{
		"text":      {second(o.Text("text")), "o.text", "invalid_value"},
		"required":  {second(o.RequiredText("x")), "o.x", "missing_required_parameter"},
		"decoded":   {second(o.DecodedText("text")), "o.text", "invalid_value"},
		"type":      {second(o.Type()), "o.type", "missing_required_parameter"},
		"int":       {third(o.Int("number", 1)), "o.number", "invalid_value"},
		"int text":  {third(o.Int("flag", 0)), "o.flag", "invalid_value"},
		"flag":      {second(o.Bool("flag")), "o.flag", "invalid_value"},
		"object":    {third(o.Object("object")), "o.object", "invalid_value"},
		"no object": {second(o.RequiredObject("x")), "o.x", "missing_required_parameter"},
		"list":      {o.Each("list", 2, none), "o.list", "invalid_value"},
		"element":   {o.Each("bad", 2, none), "o.bad[1]", "invalid_value"},
		"too many":  {o.Each("bad", 1, none), "o.bad", "invalid_value"},
		"double":    {third(o.Object("double")), "o.double", "invalid_json"},
		"only":      {o.Only("text", "number", "flag", "object"), "o.list", "unsupported_parameter"},
	} {
		if c.err == nil {
			t.Errorf("%s: accepted", name)
			continue
		}
		translatetest.MustRefuse(t, name, c.err, c.param, c.code)
	}
	if _, n, err := o.Int("number", 0); n != 0 || err != nil {
		t.Errorf("0 of at least 0: %d, %v", n, err)
	}
}

func second[T any](_ T, err error) error        { return err }
func third[T, U any](_ T, _ U, err error) error { return err }

func TestEachStopsAtAnError(t *testing.T) {
	stop, calls := errors.New("stop"), 0
	o := open(t, `{"list":[{},{},{}]}`)
	err := o.Each("list", 3, func(i int, _ translate.Object) error {
		if calls++; i == 1 {
			return stop
		}
		return nil
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

func TestFieldsAreKeptOrRefused(t *testing.T) {
	fields := translate.Fields{
		"a": translate.Kept, "b": translate.Mapped, "c": translate.Ignored, "d": translate.Refused, "e": translate.LeftOut, "stream_options": translate.Mapped,
	}
	zero := func(_ string, value []byte) bool { return string(value) == "0" }
	for text, param := range map[string]string{
		`{"a":1,"b":2,"c":3,"d":null,"x":null}`: "",
		`{"d":0}`:                               "",
		`{"d":1}`:                               "d",
		`{"x":0}`:                               "x",
		`{"stream_options":{"include_usage":true}}`: "",
		`{"stream_options":{"x":1}}`:                "stream_options.x",
	} {
		o, err := translate.Open([]byte(text), "")
		if err != nil {
			t.Fatal(err)
		}
		fields.Check(translate.Read(o, &err), zero)
		switch {
		case param == "" && err != nil:
			t.Errorf("%s: %v", text, err)
		case param != "" && err == nil:
			t.Errorf("%s: accepted", text)
		case err != nil:
			translatetest.MustRefuse(t, text, err, param, string(apierror.UnsupportedParameter))
		}
	}
	var err error
	if fields.Check(translate.Read(open(t, `{"d":0}`), &err), nil); err == nil {
		t.Error("without neutral values a refused field is accepted")
	}
	for text, want := range map[string]string{`{"a":1,"e":0}`: "", `{"e":null}`: "", `{"e":1}`: "e"} {
		var err error
		if left := fields.Check(translate.Read(open(t, text), &err), zero); err != nil || strings.Join(left, " ") != want {
			t.Errorf("%s: %q is left out, %v", text, left, err)
		}
	}
	kept := fields.AppendKept([]byte("{"), open(t, `{"b":2,"a":"x","c":3,"stream_options":null}`))
	if string(kept) != `{"a":"x"` {
		t.Errorf("kept %s", kept)
	}
}

func TestToolModes(t *testing.T) {
	for mode, want := range map[string]bool{"none": false, "auto": false, "required": true} {
		var err error
		got, required := translate.ToolMode(translate.Read(open(t, `{"mode":"`+mode+`"}`), &err), "mode")
		if err != nil || required != want || string(got) != `"`+mode+`"` {
			t.Errorf("%s: %s, %v, %v", mode, got, required, err)
		}
	}
	var err error
	translate.ToolMode(translate.Read(open(t, `{"mode":"any"}`), &err), "mode")
	translatetest.MustRefuse(t, "any", err, "o.mode", "invalid_value")
}

func TestAudioIsCopiedAsWritten(t *testing.T) {
	var err error
	out := translate.AppendAudio(nil, translate.Read(open(t, `{"input_audio":{"format":"wav", "data":"AA"}}`), &err))
	if want := `{"type":"input_audio","input_audio":{"format":"wav", "data":"AA"}}`; err != nil || string(out) != want {
		t.Errorf("%s, %v", out, err)
	}
	for text, param := range map[string]string{
		`{}`: "o.input_audio", `{"input_audio":{"data":"AA"}}`: "o.input_audio.format", `{"input_audio":{"data":"AA","format":"wav","x":1}}`: "o.input_audio.x",
	} {
		var err error
		translate.AppendAudio(nil, translate.Read(open(t, text), &err))
		if e := translatetest.MustFail(t, err); e.Param != param {
			t.Errorf("%s: refused by %q", text, e.Param)
		}
	}
}
