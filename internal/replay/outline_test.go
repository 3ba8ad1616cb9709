package replay

import (
	"context"
	"io"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/recording"
)

func TestTheOutlineKeepsWhatPersonsDid(t *testing.T) {
	r := newTape(2, 2)
	for i := range 600 {
		r.add(recording.KindMark, time.Duration(i)*second, []byte(`{"kind":"action"}`))
	}
	r.add(recording.KindMark, 700*second, []byte(`{"kind":"takeover","text":"ada"}`))
	r.add(recording.KindMark, 701*second, []byte(`no mark`))
	r.end = io.ErrUnexpectedEOF
	reader, _, _ := r.open()
	o, err := outlineOf(context.Background(), reader)
	if err != nil {
		t.Fatal(err)
	}
	if last := o.Marks[len(o.Marks)-1]; len(o.Marks) != maxMarks || o.More != 101 || o.Length != 701000 || last.Kind != "takeover" || last.At != 700000 {
		t.Errorf("%d marks and %d more in %d ms, the last %+v", len(o.Marks), o.More, o.Length, last)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	reader, _, _ = r.open()
	if _, err := outlineOf(ctx, reader); err == nil {
		t.Error("it reads on for nobody")
	}
}
