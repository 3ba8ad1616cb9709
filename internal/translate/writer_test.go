package translate_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

func TestWriterSetsCommasAndBrackets(t *testing.T) {
	w := translate.WriteTo([]byte("data: "))
	w.Object()
	w.TextMember("role", []byte(`a\"b`))
	w.Array("content")
	w.Raw([]byte(`{"type":"text"}`))
	w.Object()
	w.StringMember("text", "{[:\u2028\"")
	w.IntMember("n", -3)
	w.End()
	w.Raw([]byte(`"[",":"`))
	w.Raw(nil)
	w.Array()
	w.End()
	w.End()
	w.Member("none", nil)
	w.Member("some", []byte("1"))
	w.BoolMember("stream", true)
	w.End()
	const want = `data: {"role":"a\"b","content":[{"type":"text"},{"text":"{[:` + `\u2028` + `\"","n":-3},"[",":",[]],"some":1,"stream":true}`
	if got := string(w.Bytes()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestWriterTakesBackWhatIsOptionalAndEmpty(t *testing.T) {
	var w translate.Writer
	w.Object()
	w.IntMember("a", 1)
	w.Object("empty")
	w.EndOptional()
	w.Array("list")
	w.EndOptional()
	w.Object("full")
	w.IntMember("b", 2)
	w.EndOptional()
	w.End()
	if got := string(w.Bytes()); got != `{"a":1,"full":{"b":2}}` {
		t.Error(got)
	}
}

func TestWriterThatIsNotClosedPanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("half an object was given away")
		}
	}()
	var w translate.Writer
	w.Object()
	w.Bytes()
}

// FuzzWriter writes any sequence of calls and closes what is open: the result is JSON.
func FuzzWriter(f *testing.F) {
	f.Add([]byte("oakeoes"), "text\u2028\"")
	f.Fuzz(func(t *testing.T, calls []byte, text string) {
		var w translate.Writer
		w.Array()
		open := []byte{'a'}
		for _, c := range calls {
			object := open[len(open)-1] == 'o'
			var key []string
			if object {
				key = []string{"k"}
			}
			switch {
			case c%5 == 0:
				w.Object(key...)
				open = append(open, 'o')
			case c%5 == 1:
				w.Array(key...)
				open = append(open, 'a')
			case c%5 == 2 && len(open) > 1:
				w.End()
				open = open[:len(open)-1]
			case c%5 == 3 && len(open) > 1:
				w.EndOptional()
				open = open[:len(open)-1]
			case object:
				w.StringMember("k", text)
			default:
				w.Raw([]byte("1"))
			}
		}
		for range open {
			w.End()
		}
		if out := w.Bytes(); !json.Valid(out) || bytes.ContainsRune(out, '\u2028') {
			t.Errorf("%s", out)
		}
	})
}
