package sdkgo_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// holdStream opens a stream of the same key that ends with the test.
func holdStream(t *testing.T, c refusedCall) {
	body := `{"model":"fake/stall","stream":true,"messages":[{"role":"user","content":"x"}]}`
	req, err := http.NewRequestWithContext(ctx(t), http.MethodPost, env(t, "GATEWAY_ORIGIN")+"/v1/chat/completions", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+c.Secret)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("the stream that is held: %v, %v", res, err)
	}
	t.Cleanup(func() { res.Body.Close() })
}

func get(t *testing.T, path string) []byte {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx(t), http.MethodGet, env(t, "GATEWAY_ORIGIN")+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+env(t, "GATEWAY_ACTIVITY_KEY"))
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%s: status %d, error %v", path, res.StatusCode, err)
	}
	return text
}

// unauthenticated counts requests without a valid key, which leave no row.
func unauthenticated(t *testing.T) (sum float64) {
	t.Helper()
	for line := range strings.Lines(string(get(t, "/metrics"))) {
		if strings.HasPrefix(line, "gatehouse_unauthenticated_total") {
			n, err := strconv.ParseFloat(line[strings.LastIndexByte(line, ' ')+1:len(line)-1], 64)
			if err != nil {
				t.Fatal(err)
			}
			sum += n
		}
	}
	return sum
}

type callRow struct {
	RequestID string `json:"request_id"`
	Status    int
	Code      string
}

// rows are those of the key's calls. A refusal that does not wait for the upload to end is sent
// before its row is written, so a row may come a moment later.
func (c refusedCall) rows(t *testing.T, requestID string) []callRow {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for deadline := ctx(t); deadline.Err() == nil; <-tick.C {
		var list struct{ Data []callRow }
		if err := json.Unmarshal(get(t, "/api/v1/activity?limit=1000&key="+url.QueryEscape(c.KeyName)), &list); err != nil {
			t.Fatal(err)
		}
		for _, r := range list.Data {
			if r.RequestID == requestID || requestID == "" {
				return list.Data
			}
		}
	}
	t.Fatalf("no row of %q", requestID)
	return nil
}

// check checks how often the gateway refused, and the words of the error.
func (o *outcome) check(t *testing.T, c refusedCall, unknown float64) {
	want := map[string]int{"once": 1, "thrice": 3, "answered": 1}[c.Requests]
	retries := want - 1
	if c.Requests == "answered" {
		retries = 1
	}
	if len(o.waits) != retries {
		t.Errorf("waits %v, want %d", o.waits, retries)
	}
	for _, wait := range o.waits {
		if c.Waits != nil && (wait < c.Waits[0] || wait > c.Waits[1]) {
			t.Errorf("waits %v, want %v", o.waits, c.Waits)
		}
		if c.Requests == "answered" && o.took.Seconds() < wait {
			t.Errorf("the SDK waited %v, was asked for %v s", o.took, wait)
		}
	}
	if c.Key == "none" {
		if n := unauthenticated(t) - unknown; n != float64(want) {
			t.Errorf("%v requests without a valid key, want %d", n, want)
		}
	} else {
		refused, answered := 0, 0
		rows := c.rows(t, o.header.Get("X-Request-Id"))
		for _, r := range rows {
			switch {
			case r.Code == c.Code && r.Status == c.Status:
				refused++
			case r.Code == "" && r.Status == http.StatusOK:
				answered++
			}
		}
		if refused != want || answered != o.answered {
			t.Errorf("rows %+v: want %d refused, %d answered", rows, want, o.answered)
		}
	}
	if (o.err == nil) != (c.Requests == "answered") {
		t.Fatalf("error %v, text %q", o.err, o.text.String())
	}
	if o.err != nil {
		o.checkWords(t, c)
	}
}

func (o *outcome) checkWords(t *testing.T, c refusedCall) {
	text := o.text.String()
	if !strings.HasPrefix(text, c.Inside) || (text == "") != (c.Inside == "") {
		t.Errorf("before the error: %q", text)
	}
	wanted := c.Message
	if c.Limit == "key" {
		wanted = append(wanted, "key:"+c.KeyName)
	}
	for _, part := range wanted {
		if !strings.Contains(o.message, part) {
			t.Errorf("%q is not in %q", part, o.message)
		}
	}
	for _, part := range []string{c.Hidden, c.Secret, env(t, "GATEWAY_API_KEY"), "sk-fake-"} {
		if part != "" && strings.Contains(o.message+text, part) {
			t.Errorf("%q is in %q, %q", part, o.message, text)
		}
	}
	if o.header == nil {
		return
	}
	headers := c.Headers
	if headers == nil {
		headers = map[string]string{"Retry-After": "", "X-Should-Retry": "false"}
	}
	for name, pattern := range headers {
		if value := o.header.Get(name); !regexp.MustCompile("^(?:" + pattern + ")$").MatchString(value) {
			t.Errorf("%s: %q, want %q", name, value, pattern)
		}
	}
}
