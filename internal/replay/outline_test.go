package replay

import (
	"context"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/recording"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
)

func TestTheOutlineKeepsWhatPersonsDid(t *testing.T) {
	r := newTape(2, 2)
	for i := range 600 {
		r.add(recording.KindMark, time.Duration(i)*second, []byte(`{"kind":"action"}`))
	}
	r.add(recording.KindMark, 700*second, []byte(`{"kind":"takeover","text":"ada"}`))
	r.add(recording.KindMark, 701*second, []byte(`no mark`))
	r.end = io.ErrUnexpectedEOF
	o, err := outlineOf(context.Background(), r.open)
	if err != nil {
		t.Fatal(err)
	}
	if last := o.Marks[len(o.Marks)-1]; len(o.Marks) != maxMarks || o.More != 101 || o.Length != 701000 || last.Kind != "takeover" || last.At != 700000 {
		t.Errorf("%d marks and %d more in %d ms, the last %+v", len(o.Marks), o.More, o.Length, last)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := outlineOf(ctx, r.open); err == nil {
		t.Error("it reads on for nobody")
	}
}

// To know how long a recording is, all of it is read.
func TestALongRecordingPlaysBeforeItsLengthIsKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := colours()
		r.long = make(chan struct{})
		w := watch(t, r)
		time.Sleep(2 * second)
		w.sees("before the length is known", 0, 0, green)
		w.order(`{"at":6500}`)
		w.sees("forward", 0, 0, blue)
		close(r.long)
		synctest.Wait()
		w.order(`{"play":false}`)
		if w.mu.Lock(); !jsontest.Has(t, strings.Join(w.states, "\n"), `{"length":10001}`) {
			t.Errorf("the page was sent no length: %s", w.states)
		}
		w.mu.Unlock()
		w.order(`{"at":60000}`)
		if s := w.state(); s.At > 10001 {
			t.Errorf("it goes beyond the end: %+v", s)
		}
	})
}
