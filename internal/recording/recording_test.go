package recording_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"filippo.io/age"

	"github.com/gatehouse-proxy/gatehouse/internal/recording"
	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
)

// disk is a file whose bytes can be read while it is written.
type disk struct {
	bytes.Buffer
	closed  bool
	failure error
	stuck   chan struct{} // not nil: a write waits for it
	takes   time.Duration // each write
}

func (d *disk) Write(p []byte) (int, error) {
	if d.stuck != nil {
		<-d.stuck
	}
	<-time.After(d.takes)
	if d.failure != nil {
		return 0, d.failure
	}
	return d.Buffer.Write(p)
}

func (d *disk) Close() error { d.closed = true; return nil }

func identity(t testing.TB) *age.X25519Identity {
	t.Helper()
	id, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func header() recording.Header {
	return recording.Header{
		Session: "vncs-1", Tenant: "acme", Workstation: "desk1", Key: "alice", Begun: time.Now().UTC().Round(0), Security: "x509plain",
		Init: rfb.Init{Width: 640, Height: 480, Format: [16]byte{32, 24, 0, 1}, Name: "the desktop of Alice"},
	}
}

func write(t testing.TB, d *disk, o recording.Options) (*recording.Writer, *age.X25519Identity) {
	t.Helper()
	id := identity(t)
	o.Recipients = append(o.Recipients, id.Recipient())
	w, err := recording.NewWriter(d, header(), o)
	if err != nil {
		t.Fatal(err)
	}
	return w, id
}

// read returns the frames as text, and the error after them.
func read(t testing.TB, file []byte, id age.Identity) (frames []string, err error) {
	t.Helper()
	r, err := recording.NewReader(bytes.NewReader(file), id)
	if err != nil {
		return nil, err
	}
	for {
		f, err := r.Next()
		if err != nil {
			return frames, err
		}
		frames = append(frames, fmt.Sprintf("%d %v %q", f.Kind, f.At, f.Data))
	}
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := new(disk)
		w, id := write(t, d, recording.Options{Input: recording.InputKeys})
		want := header()
		w.Sent(append([]byte{0, 0, 0, 0}, "0123456789abcdef"...))
		w.Sent([]byte{2, 0, 0, 1, 0, 0, 0, 16})
		time.Sleep(1500 * time.Millisecond)
		w.Server([]byte("picture"))
		w.Sent([]byte{5, 1, 0, 2, 0, 3})
		w.Sent([]byte{4, 1, 0, 0, 0, 0, 0, 'a'})
		w.Sent([]byte{255, 0, 0, 1, 0, 0, 0, 'b', 0, 0, 0, 48})
		w.Sent([]byte{3, 1, 0, 0, 0, 0, 2, 128, 1, 224}) // an update request
		time.Sleep(1500 * time.Microsecond)
		w.Mark("takeover", "alice")
		if err := w.Close("viewer"); err != nil || !d.closed {
			t.Fatalf("Close: %v, closed %v", err, d.closed)
		}
		r, err := recording.NewReader(bytes.NewReader(d.Bytes()), id)
		if err != nil || r.Header() != want {
			t.Fatalf("header %+v, %v, want %+v", r.Header(), err, want)
		}
		got, err := read(t, d.Bytes(), id)
		if err != io.EOF {
			t.Errorf("error %v after the last frame", err)
		}
		wantFrames := []string{
			`2 0s "0123456789abcdef"`, `3 0s "\x00\x00\x00\x10"`, `1 1.5s "picture"`, `4 1.5s "\x01\x00\x02\x00\x03"`,
			`5 1.5s "\x01\x00\x00\x00a"`, `5 1.5s "\x01\x00\x00\x00b"`,
			`6 1.5015s "{\"kind\":\"takeover\",\"text\":\"alice\"}"`, `7 1.5015s "{\"reason\":\"viewer\",\"bytes\":7}"`,
		}
		if g, w := strings.Join(got, "\n"), strings.Join(wantFrames, "\n"); g != w {
			t.Errorf("got\n%s\nwant\n%s", g, w)
		}
	})
}

func TestKeepsOnlyTheInputOfItsLevel(t *testing.T) {
	for level, want := range []string{"", "4", "45"} {
		synctest.Test(t, func(t *testing.T) {
			d := new(disk)
			w, id := write(t, d, recording.Options{Input: recording.Input(level)})
			w.Sent([]byte{5, 1, 0, 2, 0, 3})
			w.Sent([]byte{4, 1, 0, 0, 0, 0, 0, 'a'})
			_ = w.Close("viewer")
			got := ""
			frames, _ := read(t, d.Bytes(), id)
			for _, f := range frames[:len(frames)-1] {
				got += f[:1]
			}
			if got != want {
				t.Errorf("level %d keeps the kinds %q, want %q", level, got, want)
			}
		})
	}
}

func TestLosesAtMostTheLastSecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := new(disk)
		w, id := write(t, d, recording.Options{})
		for i := range 10 {
			w.Server([]byte{byte('0' + i)})
			time.Sleep(500 * time.Millisecond)
			synctest.Wait()
			got, err := read(t, d.Bytes(), id)
			if !errors.Is(err, io.ErrUnexpectedEOF) || len(got) < i-1 {
				t.Fatalf("after %d frames in half a second each: %q, %v", i+1, got, err)
			}
		}
		_ = w.Close("viewer")
	})
}

// recorded is a recording of three chunks, with the ends of its parts.
func recorded(t testing.TB) (file []byte, parts []int, id age.Identity) {
	d := new(disk)
	w, x := write(t, d, recording.Options{})
	parts = append(parts, d.Len())
	for range 2 {
		w.Server([]byte("picture"))
		time.Sleep(2 * time.Second)
		synctest.Wait()
		parts = append(parts, d.Len())
	}
	_ = w.Close("viewer")
	return d.Bytes(), parts, x
}

func TestReadsAllWholeChunksOfATornFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file, parts, id := recorded(t)
		for n := range len(file) {
			want := 0
			for _, end := range parts[1:] {
				if n >= end {
					want++
				}
			}
			got, err := read(t, file[:n], id)
			if !errors.Is(err, io.ErrUnexpectedEOF) || len(got) != want {
				t.Fatalf("of %d of %d bytes %d frames are read, %v; want %d", n, len(file), len(got), err, want)
			}
		}
	})
}

func TestFindsEveryChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file, parts, id := recorded(t)
		check := func(what string, changed []byte) {
			t.Helper()
			if _, err := read(t, changed, id); err == nil || err == io.EOF {
				t.Errorf("%s: not found", what)
			}
		}
		for at := range file {
			changed := bytes.Clone(file)
			changed[at] ^= 1
			check(fmt.Sprintf("byte %d", at), changed)
		}
		first, second := file[parts[0]:parts[1]], file[parts[1]:parts[2]]
		head, last := file[:parts[0]], file[parts[2]:]
		check("a chunk left out", join(head, second, last))
		check("chunks moved", join(head, second, first, last))
		check("a chunk twice", join(head, first, first, second, last))
		check("more after the end", join(file, first))
		marked := bytes.Clone(file[:parts[2]])
		marked[parts[1]] |= 0x80
		check("an end too early", marked)
	})
}

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

func TestShowsNothingWithoutTheKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := new(disk)
		w, _ := write(t, d, recording.Options{})
		w.Server([]byte("picture"))
		_ = w.Close("viewer")
		if _, err := read(t, d.Bytes(), identity(t)); err == nil {
			t.Error("another key opens it")
		}
		for _, secret := range []string{"picture", "alice", "acme", "desk1", "vncs-1", "the desktop"} {
			if bytes.Contains(d.Bytes(), []byte(secret)) {
				t.Errorf("the file shows %q", secret)
			}
		}
	})
}

func FuzzReader(f *testing.F) {
	id := identity(f)
	d := new(disk)
	w, err := recording.NewWriter(d, header(), recording.Options{Recipients: []age.Recipient{id.Recipient()}})
	if err != nil {
		f.Fatal(err)
	}
	w.Server([]byte("picture"))
	_ = w.Close("viewer")
	f.Add(d.Bytes())
	f.Add(binary.BigEndian.AppendUint32([]byte("GHREC1"), 1<<17))
	f.Fuzz(func(t *testing.T, file []byte) {
		_, _ = read(t, file, id)
	})
}
