package modelcall

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
)

func TestReadAllOfAnAnswer(t *testing.T) {
	text := strings.Repeat("answer ", 1000)
	for _, announced := range []int64{-1, int64(len(text)), 10} {
		for name, r := range map[string]io.Reader{
			"whole": strings.NewReader(text), "by bytes": iotest.OneByteReader(strings.NewReader(text)),
			"EOF with end": iotest.DataErrReader(strings.NewReader(text)),
		} {
			got, err := readAll(nil, r, announced, plenty(t))
			if string(got) != text || err != nil {
				t.Errorf("%s, announced %d: %d bytes, %v", name, announced, len(got), err)
			}
		}
	}
	broken := errors.New("broken")
	if got, err := readAll(nil, io.MultiReader(strings.NewReader("half"), iotest.ErrReader(broken)), 8, plenty(t)); string(got) != "half" || !errors.Is(err, broken) {
		t.Errorf("got %q, %v", got, err)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

func TestReadAllIsBounded(t *testing.T) {
	if _, err := readAll(nil, iotest.ErrReader(errors.New("read")), maxAnswer+1, plenty(t)); !errors.Is(err, errAnswerTooLarge) {
		t.Errorf("announced too large: %v", err)
	}
	if got, err := readAll(nil, zeros{}, -1, plenty(t)); !errors.Is(err, errAnswerTooLarge) || cap(got) > 2*maxAnswer {
		t.Errorf("endless: capacity %d, %v", cap(got), err)
	}
}

// An answer that is only read for its usage belongs to a client that has left, also if it cannot be
// read.
func TestADrainedAnswerIsThatOfAClientThatHasLeft(t *testing.T) {
	for _, answer := range []string{chatAnswerBody, "data: no JSON"} {
		synctest.Test(t, func(t *testing.T) {
			ctx, leave := context.WithCancel(t.Context())
			r := newRig(t, roundTrip(func(*http.Request) (*http.Response, error) {
				leave()
				return answering(200, answer)(nil)
			}), func(r *rig) { r.Limits.Drain = time.Minute })
			c := r.beginWith(t, httptest.NewRecorder(), post(strings.NewReader(hello), int64(len(hello))).WithContext(ctx))
			defer c.req.Finish()
			wantRefusal(t, c.run(ctx), apierror.ClientGone, "the client left")
		})
	}
}
