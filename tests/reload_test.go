package tests

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
)

// words is a prompt of n words. The fake provider returns it word by word, after two words of its
// own.
func words(n int) string { return strings.TrimSpace(strings.Repeat("word ", n)) }

func say(model, text, more string) string {
	return `{"model":"` + model + `","messages":[{"role":"user","content":"` + text + `"}]` + more + `}`
}

// streamText returns the text of a chat stream, and whether the stream ended normally.
func streamText(t *testing.T, events []event) (text string, whole bool) {
	t.Helper()
	for i, e := range events {
		if e.data == "[DONE]" {
			return text, i == len(events)-1
		}
		piece, _ := at(parse(t, []byte(e.data)), "choices", 0, "delta", "content").(string)
		text += piece
	}
	return text, false
}

// keepCalling makes plain calls, one after the other, until stopped. A test uses it to see that
// none is lost meanwhile.
func (h *harness) keepCalling(key string) (stop func() (calls int64)) {
	ctx, cancel := context.WithCancel(h.t.Context())
	var calls atomic.Int64
	var done sync.WaitGroup
	done.Go(func() {
		for ctx.Err() == nil {
			status, body, err := h.quietly(h.request(chatV1, key, chat("fake/echo", "")))
			if errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) {
				continue // as SDKs do: http.Server.Shutdown drops requests that arrive at that moment, unanswered and unserved
			}
			if err != nil || status != 200 {
				h.t.Errorf("a call during a reload: %d %s, %v", status, body, err)
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

// settle waits until the older configuration's server takes no more connections: it drops those
// that it accepts while it shuts down.
func (h *harness) settle() {
	h.t.Helper()
	h.http.CloseIdleConnections()
	if !eventually(func() bool {
		resp, err := h.http.Do(h.request("/", "", ""))
		if err != nil {
			return false
		}
		_, err = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		return err == nil && !resp.Close
	}) {
		h.t.Fatal("the site does not answer")
	}
}

// change replaces the configuration and waits until only the new one answers.
func (h *harness) change(caddyfile string) {
	h.t.Helper()
	if err := h.load(caddyfile); err != nil {
		h.t.Fatal(err)
	}
	h.settle()
}

// quietly is send for goroutines of a test.
func (h *harness) quietly(r *http.Request) (status int, body []byte, err error) {
	resp, err := h.http.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err = io.ReadAll(resp.Body)
	return resp.StatusCode, body, err
}

// allRows are the tenant's records, of all pages.
func (h *harness) allRows(query string) (rows []any) {
	h.t.Helper()
	for cursor := ""; ; {
		page := parse(h.t, h.get("/api/v1/activity?limit=1000&"+query+cursor, "activity").body)
		list, _ := at(page, "data").([]any)
		rows = append(rows, list...)
		next, _ := at(page, "next_cursor").(string)
		if next == "" {
			return rows
		}
		cursor = "&cursor=" + next
	}
}

func TestTwentyReloadsUnderFiftyOpenStreamsLoseNothing(t *testing.T) {
	const streams, reloads, prompt = 50, 20, 24
	h := start(t, setup{})
	var open []*stream
	for i := range streams {
		s := h.open(h.request(chatV1, "full", say(fmt.Sprintf("fake/step-%d", i), words(prompt), streaming)))
		s.mustNext()
		open = append(open, s)
	}
	stop := h.keepCalling("full")
	for range reloads {
		if err := h.reload(setup{}); err != nil {
			t.Fatal(err)
		}
		for i, s := range open { // each continues, one event a reload
			h.upstream.Step(fmt.Sprintf("step-%d", i), 1)
			s.mustNext()
		}
	}
	calls := stop()
	h.settle()
	for i, s := range open {
		h.upstream.Step(fmt.Sprintf("step-%d", i), prompt)
		events, err := s.rest()
		text, whole := streamText(t, events)
		if want := words(prompt)[len("word ")*(reloads-2):]; err != nil || !whole || text != want {
			t.Fatalf("stream %d ended with %q, whole %v, %v; want %q", i, text, whole, err, want)
		}
	}
	rows := h.allRows("")
	if want := int(calls) + streams; len(rows) != want {
		t.Errorf("%d records of %d calls and %d streams", len(rows), calls, streams)
	}
	one := h.row(h.post(chatV1, "full", say("fake/echo", words(prompt), "")).header.Get("X-Request-Id"))
	seen := map[any]bool{}
	for _, row := range rows {
		if id := at(row, "id"); seen[id] {
			t.Errorf("two records of %v", id)
		} else {
			seen[id] = true
		}
		if at(row, "status") != number("200") || at(row, "usage_source") != "provider" {
			t.Errorf("record %v", row)
		}
		if at(row, "stream") == true && (at(row, "prompt_tokens") != at(one, "prompt_tokens") || at(row, "completion_tokens") != at(one, "completion_tokens")) {
			t.Errorf("a stream's tokens are %v and %v, those of the same call at once %v and %v",
				at(row, "prompt_tokens"), at(row, "completion_tokens"), at(one, "prompt_tokens"), at(one, "completion_tokens"))
		}
	}
	for _, line := range h.logLines(`"level":"error"`) {
		if strings.Contains(line, `"logger":"gatehouse"`) {
			t.Errorf("in the log: %s", line)
		}
	}
}

func TestAKeyThatAReloadDropsEndsForNewCallsOnly(t *testing.T) {
	h := start(t, setup{})
	s := h.open(h.request(chatV1, "other", chat("fake/step", streaming)))
	s.mustNext()
	h.change(h.caddyfile(setup{keys: keyBlockOther.ReplaceAllString(defaultKeys, "")}))
	if a := h.post(chatV1, "other", chat("fake/echo", "")); a.status != 401 {
		t.Errorf("a new call got %d", a.status)
	}
	h.upstream.Step("step", 100)
	events, err := s.rest()
	if _, whole := streamText(t, events); err != nil || !whole {
		t.Errorf("the open stream ended with %v, %v", events, err)
	}
	h.change(h.caddyfile(setup{})) // the key is back, and sees its record
	a := h.get("/api/v1/activity?request_id="+s.resp.Header.Get("X-Request-Id"), "other")
	if at(parse(t, a.body), "data", 0, "status") != number("200") {
		t.Errorf("its record: %s", a.body)
	}
}

var keyBlockOther = regexp.MustCompile(`(?s)key other \{.*?\n\t\}`)

func TestAFailedReloadChangesNothing(t *testing.T) {
	h := start(t, setup{})
	s := h.open(h.request(chatV1, "full", chat("fake/step", streaming)))
	s.mustNext()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	stop := h.keepCalling("full")
	for name, load := range map[string]func() error{
		"a misspelt option": func() error { return h.reload(setup{options: "catalogue x"}) },
		"an unset secret":   func() error { return h.reload(setup{keys: "key x {\nsecret {env.NOT_SET}\nscopes chat:write\n}"}) },
		"a missing app": func() error {
			return h.load(fmt.Sprintf("{\nadmin off\n}\nhttp://:%d {\nbind 127.0.0.1\ngatehouse\n}", h.ports[0]))
		},
		"a port that is not": func() error {
			return h.load(h.caddyfile(setup{}) + fmt.Sprintf("http://:%d {\nbind 127.0.0.1\ngatehouse\n}", taken.Addr().(*net.TCPAddr).Port))
		},
	} {
		if err := load(); err == nil {
			t.Errorf("%s: the configuration was taken", name)
		}
		if a := h.post(chatV1, "full", chat("fake/echo", "")); a.status != 200 {
			t.Errorf("after %s: %d %s", name, a.status, a.body)
		}
	}
	stop()
	h.upstream.Step("step", 100)
	events, err := s.rest()
	if _, whole := streamText(t, events); err != nil || !whole {
		t.Errorf("the open stream ended with %v, %v", events, err)
	}
	if at(h.row(s.resp.Header.Get("X-Request-Id")), "status") != number("200") {
		t.Error("the stream has no good record")
	}
}

// The State exists as long as a call needs it. The next configuration finds it, or its files,
// intact.
func TestReloadsWithAndWithoutGatehouseWork(t *testing.T) {
	h := start(t, setup{})
	s := h.open(h.request(chatV1, "full", chat("fake/step", streaming)))
	s.mustNext()
	bare := fmt.Sprintf("{\nadmin off\npersist_config off\nstorage file_system DIR/storage\n}\nhttp://:%d {\nbind 127.0.0.1\nrespond bare\n}", h.ports[0])
	for range 3 {
		h.change(bare)
		if a := h.get("/", ""); string(a.body) != "bare" {
			t.Fatalf("the other configuration answers %q", a.body)
		}
		h.change(h.caddyfile(setup{}))
	}
	h.upstream.Step("step", 100)
	events, err := s.rest()
	if _, whole := streamText(t, events); err != nil || !whole {
		t.Errorf("the open stream ended with %v, %v", events, err)
	}
	id := s.resp.Header.Get("X-Request-Id")
	if at(h.row(id), "status") != number("200") {
		t.Error("no good record")
	}
	for range 5 { // nothing uses the State now: each time it is closed and opened
		h.change(bare)
		h.change(h.caddyfile(setup{}))
		if at(h.row(id), "status") != number("200") {
			t.Error("the record is gone")
		}
	}
}

func TestACallWhoseAnswerEndedIsInTheNextQuery(t *testing.T) {
	h := start(t, setup{})
	for i := range 200 {
		model := []string{"fake/echo", "test/echo", "fake/err-429", "fake/none"}[i%4]
		more := []string{"", streaming}[i/4%2]
		a := h.post(chatV1, "full", chat(model, more))
		if row := h.row(a.header.Get("X-Request-Id")); at(row, "model") != model {
			t.Fatalf("call %d of %s: record %v", i, model, row)
		}
	}
}
