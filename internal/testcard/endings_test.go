package testcard_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/testcard"
)

// dialogue says all bytes at once, hears to the end, and returns what the card said and how it
// ended.
func dialogue(t testing.TB, said []byte) (heard []byte, err error) {
	t.Helper()
	near, far := net.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- testcard.Serve(context.Background(), far, "demo") }()
	go func() {
		near.Write(said)
		near.Close()
	}()
	heard, _ = io.ReadAll(near)
	return heard, <-ended
}

const greeting = "RFB 003.008\n\x01\x01"

func TestWhatACardDoesNotUnderstandEndsIt(t *testing.T) {
	for _, test := range []struct{ name, said, want string }{
		{"HTTP", "GET / HTTP/1.1\r\n\r\n", `version is "GET / HTTP/1"`},
		{"an older version", "RFB 003.003\n", `version is "RFB 003.003\n"`},
		{"another security type", "RFB 003.008\n\x02", `security type "\x02"`},
		{"unknown message", greeting + "\x01", "message of unknown type 1"},
		{"message of an extension", greeting + "\xff\x00", "message of unknown type 255"},
		{"colour map", greeting + "\x00\x00\x00\x00\x08\x08\x00\x00" + strings.Repeat("\x00", 12), "colour maps"},
		{"24 bits", greeting + "\x00\x00\x00\x00\x18\x18\x00\x01" + strings.Repeat("\x00", 12), "24 bits per pixel"},
		{"no red", greeting + "\x00\x00\x00\x00\x20\x18\x00\x01\x00\x00\x00\xff\x00\xff\x10\x08\x00\x00\x00\x00", "colour of at most 0"},
		{"red of 100", greeting + "\x00\x00\x00\x00\x20\x18\x00\x01\x00\x64\x00\xff\x00\xff\x10\x08\x00\x00\x00\x00", "colour of at most 100"},
		{"blue outside", greeting + "\x00\x00\x00\x00\x10\x10\x00\x01\x00\x1f\x00\x1f\x00\x1f\x00\x05\x0c\x00\x00\x00", "colour of at most 31, shifted by 12, in 16 bits"},
		{"shift of 255", greeting + "\x00\x00\x00\x00\x20\x18\x00\x01\x00\xff\x00\xff\x00\xff\xff\x08\x00\x00\x00\x00", "shifted by 255"},
		{"too long a cut text", greeting + "\x06\x00\x00\x00\x00\x10\x00\x01", "cut text of 1048577 bytes"},
		{"the longest negative cut text", greeting + "\x06\x00\x00\x00\x80\x00\x00\x00", "cut text of 2147483648 bytes"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if _, err := dialogue(t, []byte(test.said)); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
		})
	}
}

func TestMessagesWithoutAMeaningArePassedOver(t *testing.T) {
	fill := func(head string, n int) []byte { return append([]byte(head), bytes.Repeat([]byte{0xAA}, n)...) }
	for name, message := range map[string][]byte{
		"cut text":             fill("\x06\x00\x00\x00\x00\x00\x12\x34", 0x1234),
		"the longest cut text": fill("\x06\x00\x00\x00\x00\x10\x00\x00", 1<<20),
		"extended clipboard":   fill("\x06\x00\x00\x00\xff\xff\xff\xfb", 5),
		"encodings, none":      []byte("\x02\x00\x00\x00"),
	} {
		t.Run(name, func(t *testing.T) {
			show(t, "", func(t *testing.T, v *viewer) {
				v.write(message)
				v.write([]byte{4, 1, 0, 0, 0, 0, 0, 'k'})
				v.all()
				if got := text(v, keyLine); got != "Key k" {
					t.Errorf("after it the card shows %q", got)
				}
			})
		})
	}
}

func TestAViewerMayLeaveAnywhere(t *testing.T) {
	said := greeting + "\x02\x00\x00\x01\x00\x00\x00\x07" + "\x06\x00\x00\x00\x00\x00\x00\x03abc" + string(request(0, road))
	for n := range len(said) + 1 {
		if _, err := dialogue(t, []byte(said[:n])); err != nil {
			t.Errorf("after %d bytes: %v", n, err)
		}
	}
}

func TestTheContextEndsACardAnywhere(t *testing.T) {
	for name, f := range map[string]func(t *testing.T, conn net.Conn){
		"in the greeting": func(*testing.T, net.Conn) {},
		"idle":            func(t *testing.T, conn net.Conn) { greet(t, conn) },
		"in a write":      func(t *testing.T, conn net.Conn) { v := greet(t, conn); v.write(request(0, v.screen.Rect)) },
		"between frames": func(t *testing.T, conn net.Conn) {
			v := greet(t, conn)
			v.all()
			v.write(request(1, v.screen.Rect))
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // whose end tells what is left running
				near, far := net.Pipe()
				ctx, cancel := context.WithCancelCause(context.Background())
				why := errors.New("released")
				ended := make(chan error, 1)
				go func() { ended <- testcard.Serve(ctx, far, "demo") }()
				f(t, near)
				synctest.Wait()
				if len(ended) != 0 {
					t.Fatalf("ended by itself: %v", <-ended)
				}
				began := time.Now()
				cancel(why)
				if err := <-ended; !errors.Is(err, why) {
					t.Errorf("Serve: %v", err)
				}
				if _, err := far.Write([]byte{0}); !errors.Is(err, io.ErrClosedPipe) || time.Since(began) != 0 {
					t.Errorf("the connection is not closed: %v after %v", err, time.Since(began))
				}
			})
		})
	}
}

func FuzzServe(f *testing.F) {
	f.Add([]byte(greeting + "\x03\x00\x00\x00\x00\x00\x05\x00\x02\xd0"))
	f.Add([]byte(greeting + "\x02\x00\x00\x02\x00\x00\x00\x07\xff\xff\xff\xe5\x05\x01\x00\x20\x00\x20\x03\x01\x00\x00\x00\x00\x01\x40\x00\xf0"))
	f.Add(append([]byte(greeting), formats[5].message()...))
	f.Add([]byte(greeting + "\x06\x00\x00\x00\xff\xff\xff\xfe..\x04\x01\x00\x00\x00\x00\xff\x0d"))
	f.Add([]byte("RFB 003.003\n"))
	f.Fuzz(func(t *testing.T, said []byte) {
		if len(said) > 4096 {
			return
		}
		heard, err := dialogue(t, said)
		if !strings.HasPrefix(string(heard), "RFB 003.008\n") || err != nil && !strings.HasPrefix(err.Error(), "test card: ") {
			t.Errorf("heard %.20q, %v", heard, err)
		}
	})
}

// pass lets time go by, inside the bubble.
func pass(d time.Duration) { time.Sleep(d) }
