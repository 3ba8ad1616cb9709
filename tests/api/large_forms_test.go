package api

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"hash"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// repeated is bytes that repeat without an end.
type repeated struct {
	period []byte
	at     int
}

func (r *repeated) Read(p []byte) (int, error) {
	n := copy(p, r.period[r.at:])
	r.at = (r.at + n) % len(r.period)
	return n, nil
}

// noise is a period that is no multiple of any buffer.
var noise = func() []byte {
	b := make([]byte, 100_003)
	for i := range b {
		b[i] = byte(i * i >> 5)
	}
	return b
}()

// recording is a form with a sound of so many bytes, which comes before the model.
func recording(model string, size int64) io.Reader {
	return io.MultiReader(
		strings.NewReader("--cut\r\nContent-Disposition: form-data; name=\"file\"; filename=\"file.mp3\"\r\n\r\n"), io.LimitReader(&repeated{period: noise}, size),
		strings.NewReader("\r\n"+field(`"model"`, model)+"--cut--\r\n"))
}

// transcriber is a provider that keeps the hashes of what it gets and none of it.
type transcriber struct {
	status int

	mu     sync.Mutex // guards the following
	hashes []string
	pieces sync.Pool
}

func (p *transcriber) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := sha256.New()
	if err := copyWith(&p.pieces, h, r.Body); err != nil {
		panic(http.ErrAbortHandler)
	}
	p.mu.Lock()
	p.hashes = append(p.hashes, fmt.Sprintf("%x", h.Sum(nil)))
	p.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(p.status)
	_, _ = io.WriteString(w, `{"text":"so it is","usage":{"type":"duration","seconds":9}}`)
}

func copyWith(pool *sync.Pool, to hash.Hash, from io.Reader) error {
	b, ok := pool.Get().(*[]byte)
	if !ok {
		made := make([]byte, 64<<10)
		b = &made
	}
	defer pool.Put(b)
	_, err := io.CopyBuffer(struct{ io.Writer }{to}, struct{ io.Reader }{from}, *b)
	return err
}

// startRecordings starts a gateway whose alias "written" has a provider that fails, and one that
// does not.
func startRecordings(t *testing.T) (h *harness.Gateway, failing, good *transcriber) {
	t.Helper()
	failing, good = &transcriber{status: 503}, &transcriber{status: 200}
	var providers string
	for name, p := range map[string]*transcriber{"failing": failing, "good": good} {
		s := httptest.NewServer(p)
		t.Cleanup(s.Close)
		providers += "provider " + name + " {\nbase_url " + s.URL + "/v1\napi_key {env.PROVIDER_KEY}\nmodels whisper-1\ndiscover off\n}\n"
	}
	return harness.Start(t, harness.Setup{
		Keys: harness.Key("chat", "max_body 128MiB") + harness.Key("full", "") + harness.Key("activity", ""), Providers: providers,
		Options: "alias written {\ngroup {\ntarget failing/whisper-1\n}\ngroup {\ntarget good/whisper-1\n}\n}",
	}), failing, good
}

func sendRecording(h *harness.Gateway, key string, size int64) harness.Answer {
	r := h.Client.Request(transcriptsV1, key, " ")
	r.Body, r.ContentLength = io.NopCloser(recording("written", size)), -1
	r.Header.Set("Content-Type", "multipart/form-data; boundary=cut")
	return h.Client.Send(r)
}

// A form of 100 MB is kept in a file, sent to one provider and again to the next, and is never in
// memory.
func TestALargeFormIsSentAgainWithoutBeingInMemory(t *testing.T) {
	const size, most = 100 << 20, 16 << 20
	h, failing, good := startRecordings(t)
	want := sha256.New()
	if _, err := io.Copy(want, recording("whisper-1", size)); err != nil {
		t.Fatal(err)
	}
	if a := sendRecording(h, "chat", 1<<20); a.Status != 200 { // what is made once
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	a := sendRecording(h, "chat", size)
	runtime.ReadMemStats(&after)
	if a.Status != 200 || !bytes.Contains(a.Body, []byte("so it is")) {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	for name, p := range map[string]*transcriber{"failing": failing, "good": good} {
		if got := p.hashes[len(p.hashes)-1]; got != fmt.Sprintf("%x", want.Sum(nil)) {
			t.Errorf("the %s provider got another form", name)
		}
	}
	if got := after.TotalAlloc - before.TotalAlloc; got > most {
		t.Errorf("%d bytes were allocated", got)
	}
	row := h.Records.Row(a.Header.Get("X-Request-Id"))
	if harness.At(row, "status") != harness.Number("200") || harness.At(row, "attempts") != harness.Number("2") {
		t.Errorf("%v", row)
	}
}

// painter answers with pictures of 200 MB.
type painter struct{}

func (painter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, `{"created":1,"data":[{"b64_json":"`)
	_, _ = io.CopyN(w, &repeated{period: bytes.Repeat([]byte("iVBORw0K"), 8<<10)}, 200<<20)
	_, _ = io.WriteString(w, `"}],"usage":{"input_tokens":5,"output_tokens":544,"total_tokens":549}}`)
}

func TestALargePictureIsNeverInMemory(t *testing.T) {
	s := httptest.NewServer(painter{})
	t.Cleanup(s.Close)
	h := harness.Start(t, harness.Setup{Providers: "provider painter {\nbase_url " + s.URL + "/v1\napi_key {env.PROVIDER_KEY}\nmodels *\ndiscover off\n}"})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	answer := h.Client.Open(h.Client.Request(imagesV1, "chat", picture("painter/any", ""))).Response
	n, err := io.Copy(io.Discard, answer.Body)
	runtime.ReadMemStats(&after)
	if err != nil || answer.StatusCode != 200 || n < 200<<20 {
		t.Fatalf("%d, %d bytes, %v", answer.StatusCode, n, err)
	}
	if got := after.TotalAlloc - before.TotalAlloc; got > 16<<20 {
		t.Errorf("%d bytes were allocated", got)
	}
	row := h.Records.Row(answer.Header.Get("X-Request-Id"))
	if harness.At(row, "completion_tokens") != harness.Number("544") || harness.At(row, "images") != harness.Number("1") {
		t.Errorf("%v", row)
	}
}

func TestALargeFormHasTheLimitOfItsKey(t *testing.T) {
	h, _, good := startRecordings(t)
	a := sendRecording(h, "full", 40<<20)
	harness.WantRefusal(t, transcriptsV1, a, 413, "request_too_large")
	if len(good.hashes) != 0 {
		t.Error("the provider got a request")
	}
}
