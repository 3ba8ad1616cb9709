package jsonscan

import (
	"bytes"
	"errors"
	"testing"
)

func TestABodyIsWrittenWithAllEditsOfItsSteps(t *testing.T) {
	data := []byte(`{"model":"a/b", "stream":true,"n":1}`)
	var b Body
	if err := b.Parse(data); err != nil {
		t.Fatal(err)
	}
	model, _ := b.Find("model")
	n, _ := b.Find("n")
	if string(b.Value(n)) != "1" || len(b.Members()) != 3 || !bytes.Equal(b.Data(), data) {
		t.Errorf("n is %s, members %v", b.Value(n), b.Members())
	}
	b.Set(model, []byte(`"b"`))
	b.Drop(n)
	b.Add("user", []byte(`"u"`))
	want := `{"model":"b", "stream":true,"user":"u"}`
	if got := string(b.Append(nil)); got != want {
		t.Errorf("got %s", got)
	}
	pieces := b.Segments(nil)
	b.Release()
	if got := string(bytes.Join(pieces, nil)); got != want {
		t.Errorf("segments give %s", got)
	}
}

func TestABodyThatIsParsedAgainHasNoEdits(t *testing.T) {
	var b Body
	for _, text := range []string{`{"a":1}`, `{"b":2,"c":3}`} {
		if err := b.Parse([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if got := string(b.Append(nil)); got != text {
			t.Errorf("got %s, want %s", got, text)
		}
		b.Drop(0)
	}
	b.Release()
}

func TestABodyTellsWhatIsWrongWithIt(t *testing.T) {
	var b Body
	defer b.Release()
	var syntax *SyntaxError
	if err := b.Parse([]byte(`{"a":1,"A":2}`)); !errors.As(err, &syntax) || syntax.Key != "A" {
		t.Errorf("got %v", err)
	}
}
