package translate_test

import (
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/translatetest"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

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
		var b jsonscan.Body
		err := b.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		fields.Check(translate.Read(&b, &err), zero)
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
	if fields.Check(open(t, `{"d":0}`, &err), nil); err == nil {
		t.Error("without neutral values a refused field is accepted")
	}
	for text, want := range map[string]string{`{"a":1,"e":0}`: "", `{"e":null}`: "", `{"e":1}`: "e"} {
		var err error
		if left := fields.Check(open(t, text, &err), zero); err != nil || strings.Join(left, " ") != want {
			t.Errorf("%s: %q is left out, %v", text, left, err)
		}
	}
	var w translate.Writer
	w.Object()
	fields.PutKept(&w, open(t, `{"b":2,"a":"x","c":3,"stream_options":null}`, &err))
	w.End()
	if kept := string(w.Bytes()); kept != `{"a":"x"}` {
		t.Errorf("kept %s", kept)
	}
}
