package operator

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// words is a prompt of n words. The fake provider returns it word by word, after two words of its
// own.
func words(n int) string { return strings.TrimSpace(strings.Repeat("word ", n)) }

func say(model, text, more string) string {
	return `{"model":"` + model + `","messages":[{"role":"user","content":"` + text + `"}]` + more + `}`
}

// streamText returns the text of a chat stream, and whether the stream ended normally.
func streamText(t *testing.T, events []harness.Event) (text string, whole bool) {
	t.Helper()
	for i, e := range events {
		if e.Data == "[DONE]" {
			return text, i == len(events)-1
		}
		piece, _ := harness.At(harness.Parse(t, []byte(e.Data)), "choices", 0, "delta", "content").(string)
		text += piece
	}
	return text, false
}

// keepCalling makes plain calls, one after the other, until stopped. A test uses it to see that
// none is lost meanwhile.
func keepCalling(h *harness.Gateway, key string) (stop func() (calls int64)) {
	ctx, cancel := context.WithCancel(h.T.Context())
	var calls atomic.Int64
	var done sync.WaitGroup
	done.Go(func() {
		for ctx.Err() == nil {
			status, body, err := h.Client.Try(h.Client.Request(harness.ChatV1, key, harness.Chat("fake/echo", "")))
			if isDropped(err) {
				continue // as SDKs do
			}
			if err != nil || status != 200 {
				h.T.Errorf("a call during a reload: %d %s, %v", status, body, err)
			}
			calls.Add(1)
		}
	})
	return func() int64 {
		cancel()
		done.Wait()
		return calls.Load()
	}
}

// isDropped reports whether a server that shuts down has dropped a request that arrived at that
// moment, unanswered and unserved: http.Server.Shutdown closes idle connections. net/http has no
// name for its third error.
func isDropped(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || err != nil && strings.Contains(err.Error(), "server closed idle connection")
}

func TestTwentyReloadsUnderFiftyOpenStreamsLoseNothing(t *testing.T) {
	const streams, reloads, prompt = 50, 20, 24
	h := harness.Start(t, harness.Setup{})
	var open []*harness.Stream
	for i := range streams {
		s := h.Client.Open(h.Client.Request(harness.ChatV1, "full", say(fmt.Sprintf("fake/step-%d", i), words(prompt), harness.Streaming)))
		s.MustNext()
		open = append(open, s)
	}
	stop := keepCalling(h, "full")
	for range reloads {
		if err := h.Reload(harness.Setup{}); err != nil {
			t.Fatal(err)
		}
		for i, s := range open { // each continues, one event a reload
			h.Provider.Fake.Step(fmt.Sprintf("step-%d", i), 1)
			s.MustNext()
		}
	}
	calls := stop()
	h.Settle()
	for i, s := range open {
		h.Provider.Fake.Step(fmt.Sprintf("step-%d", i), prompt)
		events, err := s.Rest()
		text, whole := streamText(t, events)
		if want := words(prompt)[len("word ")*(reloads-2):]; err != nil || !whole || text != want {
			t.Fatalf("stream %d ended with %q, whole %v, %v; want %q", i, text, whole, err, want)
		}
	}
	rows := h.Records.Rows("")
	if want := int(calls) + streams; len(rows) != want {
		t.Errorf("%d records of %d calls and %d streams", len(rows), calls, streams)
	}
	one := h.Records.Row(h.Client.Post(harness.ChatV1, "full", say("fake/echo", words(prompt), "")).Header.Get("X-Request-Id"))
	seen := map[any]bool{}
	for _, row := range rows {
		if id := harness.At(row, "id"); seen[id] {
			t.Errorf("two records of %v", id)
		} else {
			seen[id] = true
		}
		if harness.At(row, "status") != harness.Number("200") || harness.At(row, "usage_source") != "provider" {
			t.Errorf("record %v", row)
		}
		if harness.At(row, "stream") == true && (harness.At(row, "prompt_tokens") != harness.At(one, "prompt_tokens") || harness.At(row, "completion_tokens") != harness.At(one, "completion_tokens")) {
			t.Errorf("a stream's tokens are %v and %v, those of the same call at once %v and %v",
				harness.At(row, "prompt_tokens"), harness.At(row, "completion_tokens"), harness.At(one, "prompt_tokens"), harness.At(one, "completion_tokens"))
		}
	}
	for _, line := range harness.Log.Lines(`"level":"error"`) {
		if jsontest.Has(t, line, `{"logger":"gatehouse"}`) {
			t.Errorf("in the log: %s", line)
		}
	}
}

func TestAKeyThatAReloadDropsEndsForNewCallsOnly(t *testing.T) {
	h := harness.Start(t, harness.Setup{})
	s := h.Client.Open(h.Client.Request(harness.ChatV1, "other", harness.Chat("fake/step", harness.Streaming)))
	s.MustNext()
	h.Become(harness.Setup{Keys: keyBlockOther.ReplaceAllString(harness.DefaultKeys, "")})
	if a := h.Client.Post(harness.ChatV1, "other", harness.Chat("fake/echo", "")); a.Status != 401 {
		t.Errorf("a new call got %d", a.Status)
	}
	h.Provider.Fake.Step("step", 100)
	events, err := s.Rest()
	if _, whole := streamText(t, events); err != nil || !whole {
		t.Errorf("the open stream ended with %v, %v", events, err)
	}
	h.Become(harness.Setup{}) // the key is back, and sees its record
	a := h.Client.Get("/api/v1/activity?request_id="+s.Response.Header.Get("X-Request-Id"), "other")
	if harness.At(harness.Parse(t, a.Body), "data", 0, "status") != harness.Number("200") {
		t.Errorf("its record: %s", a.Body)
	}
}

var keyBlockOther = regexp.MustCompile(`(?s)key other \{.*?\n\t\}`)

// Before it fails, a configuration may have opened its servers for a moment. Without the listener wrapper
// they keep the connections that they have accepted, and take them along.
func TestAFailedReloadChangesNothing(t *testing.T) {
	setup := harness.Setup{Global: keepsConnections}
	h := harness.Start(t, setup)
	s := h.Client.Open(h.Client.Request(harness.ChatV1, "full", harness.Chat("fake/step", harness.Streaming)))
	s.MustNext()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	stop := keepCalling(h, "full")
	for name, load := range map[string]func() error{
		"a misspelt option": func() error { return h.Reload(harness.Setup{Global: keepsConnections, Options: "catalogue x"}) },
		"an unset secret": func() error {
			return h.Reload(harness.Setup{Global: keepsConnections, Keys: "key x {\nsecret {env.NOT_SET}\nscopes chat:write\n}"})
		},
		"a missing app": func() error {
			return h.Load(fmt.Sprintf("{\nadmin off\n}\nhttp://:%d {\nbind 127.0.0.1\ngatehouse\n}", h.Ports.HTTP))
		},
		"a port that is not": func() error {
			return h.Load(h.Caddyfile(setup) + fmt.Sprintf("http://:%d {\nbind 127.0.0.1\ngatehouse\n}", taken.Addr().(*net.TCPAddr).Port))
		},
	} {
		if err := load(); err == nil {
			t.Errorf("%s: the configuration was taken", name)
		}
		if a := h.Client.Post(harness.ChatV1, "full", harness.Chat("fake/echo", "")); a.Status != 200 {
			t.Errorf("after %s: %d %s", name, a.Status, a.Body)
		}
	}
	stop()
	h.Provider.Fake.Step("step", 100)
	events, err := s.Rest()
	if _, whole := streamText(t, events); err != nil || !whole {
		t.Errorf("the open stream ended with %v, %v", events, err)
	}
	if harness.At(h.Records.Row(s.Response.Header.Get("X-Request-Id")), "status") != harness.Number("200") {
		t.Error("the stream has no good record")
	}
}

// The State exists as long as a call needs it. The next configuration finds it, or its files,
// intact.
func TestReloadsWithAndWithoutGatehouseWork(t *testing.T) {
	h := harness.Start(t, harness.Setup{})
	s := h.Client.Open(h.Client.Request(harness.ChatV1, "full", harness.Chat("fake/step", harness.Streaming)))
	s.MustNext()
	bare := fmt.Sprintf("{\nadmin off\npersist_config off\nstorage file_system DIR/storage\n}\nhttp://:%d {\nbind 127.0.0.1\nrespond bare\n}", h.Ports.HTTP)
	for range 3 {
		h.Change(bare)
		if a := h.Client.Get("/", ""); string(a.Body) != "bare" {
			t.Fatalf("the other configuration answers %q", a.Body)
		}
		h.Become(harness.Setup{})
	}
	h.Provider.Fake.Step("step", 100)
	events, err := s.Rest()
	if _, whole := streamText(t, events); err != nil || !whole {
		t.Errorf("the open stream ended with %v, %v", events, err)
	}
	id := s.Response.Header.Get("X-Request-Id")
	if harness.At(h.Records.Row(id), "status") != harness.Number("200") {
		t.Error("no good record")
	}
	for range 5 { // nothing uses the State now: each time it is closed and opened
		h.Change(bare)
		h.Become(harness.Setup{})
		if harness.At(h.Records.Row(id), "status") != harness.Number("200") {
			t.Error("the record is gone")
		}
	}
}

func TestACallWhoseAnswerEndedIsInTheNextQuery(t *testing.T) {
	h := harness.Start(t, harness.Setup{})
	for i := range 200 {
		model := []string{"fake/echo", "test/echo", "fake/err-429", "fake/none"}[i%4]
		more := []string{"", harness.Streaming}[i/4%2]
		a := h.Client.Post(harness.ChatV1, "full", harness.Chat(model, more))
		if row := h.Records.Row(a.Header.Get("X-Request-Id")); harness.At(row, "model") != model {
			t.Fatalf("call %d of %s: record %v", i, model, row)
		}
	}
}
