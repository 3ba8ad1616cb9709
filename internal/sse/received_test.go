package sse_test

import (
	"io"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/sse"
)

func TestReceivedIsWhatNothingHasLookedAt(t *testing.T) {
	reader := sse.NewReader(strings.NewReader("data: 1\n\ndata: 2\n\ndata: 3\n\ndata: 4"), bound)
	want := func(received, data string) {
		t.Helper()
		if got := reader.Received(); string(got) != received {
			t.Errorf("before event %q, %q was received, want %q", data, got, received)
		}
		if event, err := reader.Next(); err != nil || string(event.Data) != data {
			t.Errorf("got %q %v, want %q", event.Data, err, data)
		}
	}
	want("", "1") // it does not read
	if n := len("data: 2\n\n"); reader.Received() != nil {
		reader.Skip(n)
	}
	if !reader.Buffered() {
		t.Error("nothing is buffered")
	}
	want("", "3") // Buffered has looked at it
	want("data: 4", "4")
	if _, err := reader.Next(); err != io.EOF || len(reader.Received()) > 0 {
		t.Errorf("%v, %q", err, reader.Received())
	}
}

func TestReceivedEndsAtTheBound(t *testing.T) {
	reader := sse.NewReader(strings.NewReader("data: 1\n\n"+"data: longer\n\n"), 9)
	if _, err := reader.Next(); err != nil || string(reader.Received()) != "data: lon" {
		t.Errorf("%q %v", reader.Received(), err)
	}
}
