package modelcall

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
	"github.com/gatehouse-proxy/gatehouse/internal/units"
)

const imageBody = `{"model":"acme/m","prompt":"a red fox","n":2}`

// pictures is an answer with two pictures of so many bytes. Its end is err.
func pictures(size int64, end string, err error) func() io.Reader {
	return func() io.Reader {
		picture := func() io.Reader { return io.LimitReader(letters{}, size) }
		return io.MultiReader(strings.NewReader(`{"created":1,"data":[{"b64_json":"`), picture(), strings.NewReader(`"},{"b64_json":"`), picture(), strings.NewReader(end), ending{err})
	}
}

const picturesEnd = `"}],"usage":{"input_tokens":5,"output_tokens":544,"total_tokens":549}}`

type letters struct{}

func (letters) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'A'
	}
	return len(p), nil
}

type ending struct{ err error }

func (b ending) Read([]byte) (int, error) { return 0, b.err }

// discarding is a client that counts what it gets.
type discarding struct {
	header  http.Header
	written int64
	err     error
}

func (d *discarding) Header() http.Header { return d.header }
func (d *discarding) WriteHeader(int)     {}
func (d *discarding) Write(p []byte) (int, error) {
	d.written += int64(len(p))
	return len(p), d.err
}

// drawing is a rig whose provider answers with pictures.
func drawing(t *testing.T, body func() io.Reader, change ...func(*rig)) *rig {
	r := newRig(t, roundTrip(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Header: http.Header{}, ContentLength: -1, Body: io.NopCloser(body())}, nil
	}), change...)
	r.models.model.Mode = catalog.ModeImages
	return r
}

// serveImages makes a call, and reports whether the connection of its client broke.
func serveImages(t *testing.T, r *rig, w http.ResponseWriter) (broke bool) {
	defer func() {
		if p := recover(); p != nil {
			broke = true
		}
	}()
	_ = r.serveTo(t, w, post(strings.NewReader(imageBody), int64(len(imageBody))), wire.Images)
	return false
}

func TestLargePicturesPassWithoutBeingHeld(t *testing.T) {
	const size = 40 << 20 // both are more than a whole answer may have
	r := drawing(t, pictures(size, picturesEnd, io.EOF))
	w := &discarding{header: http.Header{}}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if serveImages(t, r, w) {
		t.Fatal("the connection broke")
	}
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 8<<20 {
		t.Errorf("%d bytes were allocated", got)
	}
	if row := r.rows(t)[0]; w.written < 2*size || row.CompletionTokens != 544 || row.Units[units.Images] != 2 || row.CostNano != 549_000 || row.Status != 200 {
		t.Errorf("%d bytes, %+v", w.written, row)
	}
}

func TestALargeAnswerIsKept(t *testing.T) {
	for _, size := range []int64{10, passedFrom / 2, passedFrom, passedFrom + maxPassed, 1 << 20} {
		body := pictures(size, picturesEnd, io.EOF)
		w := httptest.NewRecorder()
		broke := serveImages(t, drawing(t, body), w)
		want, _ := io.ReadAll(body())
		if broke || w.Body.String() != string(want) {
			t.Errorf("%d bytes became %d", len(want), w.Body.Len())
		}
	}
}

func TestAPartOfALargeAnswerNeverLooksWhole(t *testing.T) {
	for name, c := range map[string]struct {
		body  func() io.Reader
		write error
		code  string
	}{
		"cut off":         {pictures(1<<20, "", io.ErrUnexpectedEOF), nil, "upstream_error"},
		"no JSON":         {pictures(1<<20, "", io.EOF), nil, "upstream_error"},
		"the client left": {pictures(1<<20, picturesEnd, io.EOF), errors.New("gone"), "client_closed_request"},
	} {
		r := drawing(t, c.body, limited(budget(t, "10usd/day")), func(r *rig) { r.models.model.MaxUnits[units.ImageOutput] = 1000 })
		if !serveImages(t, r, &discarding{header: http.Header{}, err: c.write}) {
			t.Errorf("%s: the connection is kept", name)
		}
		row := r.rows(t)[0]
		if row.Code != c.code || row.CompletionTokens != 2000 || row.UsageSource != "estimated" {
			t.Errorf("%s: %+v", name, row)
		}
	}
	r := drawing(t, pictures(10, "", io.ErrUnexpectedEOF)) // before the client has anything
	w := httptest.NewRecorder()
	if serveImages(t, r, w) || r.rows(t)[0].Code != "upstream_error" || w.Body.Len() > 0 {
		t.Errorf("%s", w.Body)
	}
}
