package provider_test

import (
	"context"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

// connect returns both ends of a connection. The near end is as a transport dials it, after wrap.
func connect(t *testing.T, wrap func(net.Conn) net.Conn) (near, far net.Conn) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	dial := provider.ReadToEnd(func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		return wrap(conn), err
	})
	if near, err = dial(t.Context(), "tcp", listener.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if far, err = listener.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = near.Close(), far.Close() })
	return near, far
}

func direct(conn net.Conn) net.Conn { return conn }

// counting counts the writes.
type counting struct {
	net.Conn
	writes *int
}

func (c counting) Write(p []byte) (int, error) {
	*c.writes++
	return c.Conn.Write(p)
}

// The kernel takes a body from its pieces, or net/http's 32 KiB at a time where a connection wants to
// see each write. The same bytes come.
func TestABodyIsSentWholeHoweverItIsWritten(t *testing.T) {
	text := []string{`{"model":`, `"gpt"`, `,"a":"`, "", strings.Repeat(long, 3), `"}`}
	want := strings.Join(text, "")
	writes := 0
	for name, wrap := range map[string]func(net.Conn) net.Conn{
		"directly": direct,
		"seen":     func(conn net.Conn) net.Conn { return counting{conn, &writes} },
	} {
		for _, begun := range []int{0, 4, 9, 20} { // bytes that were read before
			freed := 0
			body := provider.NewBody(raw(text...), func() { freed++ })
			reader, _ := body.Open()
			if _, err := io.ReadFull(reader, make([]byte, begun)); err != nil {
				t.Fatal(err)
			}
			near, far := connect(t, wrap)
			got := make(chan string, 1)
			go func() {
				all, _ := io.ReadAll(far)
				got <- string(all)
			}()
			rest := want[begun:]
			if n, err := io.Copy(near, io.LimitReader(reader, int64(len(rest)))); n != int64(len(rest)) || err != nil {
				t.Errorf("%s behind %d: wrote %d bytes, %v", name, begun, n, err)
			}
			if n, err := reader.Read(make([]byte, 1)); n != 0 || err != io.EOF {
				t.Errorf("%s behind %d: %d bytes are left, %v", name, begun, n, err)
			}
			_ = near.Close()
			if text := <-got; text != rest {
				t.Errorf("%s behind %d: %d bytes came, want %d", name, begun, len(text), len(rest))
			}
			if body.Release(); freed != 1 {
				t.Errorf("%s behind %d: freed %d times", name, begun, freed)
			}
		}
	}
	if writes < 4*len(want)/(32<<10) {
		t.Errorf("%d writes were seen", writes)
	}
}

// No more than the limit is written, and the rest can be read.
func TestAPartOfABodyIsSent(t *testing.T) {
	body := newBody(`{"a":"`, long, `"}`)
	reader, _ := body.Open()
	near, far := connect(t, direct)
	if n, err := io.Copy(near, io.LimitReader(reader, 10)); n != 10 || err != nil {
		t.Errorf("wrote %d bytes, %v", n, err)
	}
	_ = near.Close()
	if got, _ := io.ReadAll(far); string(got) != `{"a":"0123` {
		t.Errorf("%q came", got)
	}
	if rest, err := io.ReadAll(reader); err != nil || string(rest) != long[4:]+`"}` {
		t.Errorf("%d bytes are left, %v", len(rest), err)
	}
}

// A peer that reads no more is hidden, and the body is free. Our own end is not: the body may be sent
// again.
func TestABodyThatNobodyReads(t *testing.T) {
	for _, own := range []bool{false, true} {
		freed := 0
		body := provider.NewBody(raw(strings.Repeat(long, 300)), func() { freed++ })
		near, far := connect(t, direct)
		if own {
			_ = near.Close()
		} else {
			_ = far.(*net.TCPConn).SetLinger(0)
			_ = far.Close()
		}
		for range 2 {
			reader, _ := body.Open()
			n, err := io.Copy(near, io.LimitReader(reader, body.Size()))
			if hidden := n == body.Size() && err == nil; hidden == own {
				t.Errorf("ended by us: %v, wrote %d bytes, %v", own, n, err)
			}
		}
		if body.Release(); freed == 1 == own {
			t.Errorf("ended by us: %v, freed %d times", own, freed)
		}
	}
}

func raw(pieces ...string) (out [][]byte) {
	for _, p := range pieces {
		out = append(out, []byte(p))
	}
	return out
}
