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

// A connection that broke before the first byte is tried anew with a fresh
// reader, while the first one may still be half-way.
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

func TestWriteToGoesOnWhereReadStopped(t *testing.T) {
	reader, _ := newBody("hello ", "world").Open()
	if _, err := io.ReadFull(reader, make([]byte, 3)); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	n, err := reader.(io.WriterTo).WriteTo(&out)
	if n != 8 || err != nil || out.String() != "lo world" {
		t.Errorf("wrote %d bytes %q, %v", n, out.String(), err)
	}
}

func TestWriteToReportsAFailedWrite(t *testing.T) {
	broken := errors.New("broken pipe")
	reader, _ := newBody("hello ", "world").Open()
	n, err := reader.(io.WriterTo).WriteTo(&failingWriter{room: 8, err: broken})
	if n != 8 || !errors.Is(err, broken) {
		t.Errorf("wrote %d bytes, %v; want 8 and the writer's error", n, err)
	}
}

// FuzzBodySplitReads: however a body is cut and however it is read, the bytes
// are the same.
func FuzzBodySplitReads(f *testing.F) {
	f.Add([]byte(`{"model":"openai/gpt-4o","stream":true}`), uint8(9), uint8(15), uint8(4))
	f.Add([]byte("ab"), uint8(0), uint8(0), uint8(1))
	f.Add([]byte{}, uint8(1), uint8(2), uint8(3))
	f.Fuzz(func(t *testing.T, data []byte, cut1, cut2, chunk uint8) {
		a := min(int(cut1), len(data))
		b := min(a+int(cut2), len(data))
		body := provider.NewBody(data[:a], data[a:b], data[b:])
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
	var raw [][]byte
	for _, p := range pieces {
		raw = append(raw, []byte(p))
	}
	return provider.NewBody(raw...)
}

// failingWriter takes room bytes and then fails.
type failingWriter struct {
	room int
	err  error
}

func (w *failingWriter) Write(p []byte) (int, error) {
	if len(p) > w.room {
		n := w.room
		w.room = 0
		return n, w.err
	}
	w.room -= len(p)
	return len(p), nil
}
