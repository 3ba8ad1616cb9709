package provider_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

func TestBodyReadsAsItsPiecesInOrder(t *testing.T) {
	for name, pieces := range map[string][]string{
		"none":         nil,
		"one":          {`{"model":"a"}`},
		"edits":        {`{"model":`, `"gpt"`, `,"n":1}`},
		"empty pieces": {"", `{"a"`, "", `:1}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			want := strings.Join(pieces, "")
			body := newBody(pieces...)
			if body.Size() != int64(len(want)) {
				t.Errorf("size %d, want %d", body.Size(), len(want))
			}
			reader, err := body.Open()
			if err != nil {
				t.Fatal(err)
			}
			if err := iotest.TestReader(reader, []byte(want)); err != nil {
				t.Error(err)
			}
			if err := reader.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// A connection that broke before the first byte is followed by a second attempt with a new reader,
// while the first reader may still be half-way.
func TestBodyCanBeReadAgainBesideAnUnfinishedReader(t *testing.T) {
	body := newBody("hello ", "", "world")
	first, _ := body.Open()
	if _, err := io.ReadFull(first, make([]byte, 8)); err != nil {
		t.Fatal(err)
	}
	second, _ := body.Open()
	for want, r := range map[string]io.Reader{"hello world": second, "rld": first} {
		if got, err := io.ReadAll(r); err != nil || string(got) != want {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
	}
}

// long is a body that is not joined: its pieces are not copied.
var long = strings.Repeat("0123456789abcdef", 4<<10)

func TestALongBodyIsReadWhereItLies(t *testing.T) {
	body := newBody(`{"a":"`, "", long, `"}`)
	if want := `{"a":"` + long + `"}`; body.Size() != int64(len(want)) {
		t.Errorf("size %d, want %d", body.Size(), len(want))
	}
	first, _ := body.Open()
	if _, err := io.ReadFull(first, make([]byte, 7)); err != nil {
		t.Fatal(err)
	}
	second, _ := body.Open()
	if err := iotest.TestReader(second, []byte(`{"a":"`+long+`"}`)); err != nil {
		t.Error(err)
	}
	if rest, err := io.ReadAll(first); err != nil || string(rest) != long[1:]+`"}` {
		t.Errorf("the first reader went on with %d bytes, %v", len(rest), err)
	}
}

// The bytes of a short body are copied, so its buffer is free at once.
func TestAShortBodyIsFreeAtOnceAndStaysReadable(t *testing.T) {
	piece := []byte(`{"a":1}`)
	freed := 0
	body := provider.NewBody([][]byte{piece}, func() { freed++ })
	if freed != 1 {
		t.Fatalf("freed %d times", freed)
	}
	clear(piece)
	body.Release()
	reader, err := body.Open()
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := io.ReadAll(reader); string(got) != `{"a":1}` || freed != 1 {
		t.Errorf("read %q, freed %d times", got, freed)
	}
}

// A provider may answer while it is still reading. The bytes are free only when no more readers can
// be opened and all open ones have reached the end.
func TestALongBodyIsFreeAfterReleaseAndTheLastReader(t *testing.T) {
	for name, releaseFirst := range map[string]bool{"released first": true, "read first": false} {
		t.Run(name, func(t *testing.T) {
			freed := 0
			body := provider.NewBody([][]byte{[]byte(long)}, func() { freed++ })
			first, _ := body.Open()
			second, _ := body.Open()
			if releaseFirst {
				body.Release()
			}
			for _, r := range []io.Reader{first, second} {
				if freed != 0 {
					t.Fatal("freed under a reader")
				}
				if n, err := io.Copy(io.Discard, r); n != int64(len(long)) || err != nil {
					t.Errorf("read %d bytes, %v", n, err)
				}
				_, _ = r.Read(make([]byte, 1)) // the end again
			}
			if !releaseFirst {
				if freed != 0 {
					t.Fatal("freed while another reader can be opened")
				}
				body.Release()
			}
			body.Release()
			if freed != 1 {
				t.Errorf("freed %d times", freed)
			}
			if _, err := body.Open(); !errors.Is(err, provider.ErrReleased) {
				t.Errorf("opened after the end: %v", err)
			}
		})
	}
}

func TestALongBodyWithAnAbandonedReaderIsNeverFree(t *testing.T) {
	body := provider.NewBody([][]byte{[]byte(long)}, func() { t.Error("freed under a transport that may still read") })
	reader, _ := body.Open()
	if _, err := reader.Read(make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	_ = reader.Close()
	body.Release()
}

// FuzzBodySplitReads checks that the bytes are the same however a body is cut and read.
func FuzzBodySplitReads(f *testing.F) {
	f.Add([]byte(`{"model":"openai/gpt-4o","stream":true}`), uint8(9), uint8(15), uint8(4))
	f.Add([]byte("ab"), uint8(0), uint8(0), uint8(1))
	f.Add([]byte{}, uint8(1), uint8(2), uint8(3))
	f.Add(bytes.Repeat([]byte("0123456789"), 40), uint8(200), uint8(100), uint8(255))
	f.Fuzz(func(t *testing.T, data []byte, cut1, cut2, chunk uint8) {
		a := min(int(cut1), len(data))
		b := min(a+int(cut2), len(data))
		// Repeated, so that long bodies occur too, which are read in another way.
		var pieces [][]byte
		for range int(cut2) + 1 {
			pieces = append(pieces, data[:a], data[a:b], data[b:])
		}
		data = bytes.Repeat(data, int(cut2)+1)
		body := provider.NewBody(pieces, func() {})
		reader, _ := body.Open()
		var got []byte
		buffer := make([]byte, int(chunk)+1)
		for {
			n, err := reader.Read(buffer)
			got = append(got, buffer[:n]...)
			if err == io.EOF {
				break
			}
			if err != nil || n == 0 {
				t.Fatalf("read %d bytes, %v", n, err)
			}
		}
		if !bytes.Equal(got, data) || body.Size() != int64(len(data)) {
			t.Fatalf("read %q of size %d, want %q", got, body.Size(), data)
		}
	})
}

func newBody(pieces ...string) *provider.Body {
	return provider.NewBody(raw(pieces...), func() {})
}
