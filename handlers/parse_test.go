package handlers

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
)

var noon = time.Date(2026, 3, 18, 12, 0, 0, 0, time.UTC) // a Wednesday

func TestParsePage(t *testing.T) {
	for query, want := range map[string]page{
		"":                           {0, 500},
		"offset=3&limit=2":           {3, 2},
		"limit=1000000":              {0, 1000},
		"offset=1000000000":          {catalog.MaxModels, 500},
		"offset=0&limit=1":           {0, 1},
		"category=programming&foo=1": {0, 500},
	} {
		values, _ := url.ParseQuery(query)
		if got, err := parsePage(values); got != want || err != nil {
			t.Errorf("%q: %+v, %v, want %+v", query, got, err, want)
		}
	}
	for query, param := range map[string]string{
		"offset=-1": "offset", "offset=x": "offset", "offset=1.5": "offset", "limit=0": "limit", "limit=-5": "limit",
		"limit=99999999999999999999": "limit",
	} {
		values, _ := url.ParseQuery(query)
		_, err := parsePage(values)
		if e := apierror.From(err); err == nil || e.Code != apierror.InvalidValue || e.Param != param {
			t.Errorf("%q: %v", query, err)
		}
	}
}

// Whoever goes from page to page sees every model once, and then an empty page.
func TestPagesCoverTheList(t *testing.T) {
	models := make([]catalog.Model, 7)
	for i := range models {
		models[i].ID = string(rune('a' + i))
	}
	var seen strings.Builder
	for p := (page{limit: 3}); ; p.offset += p.limit {
		part, more := p.of(models)
		for _, m := range part {
			seen.WriteString(m.ID)
		}
		if more != (p.offset+3 < 7) {
			t.Errorf("offset %d: more is %v", p.offset, more)
		}
		if len(part) == 0 {
			break
		}
	}
	if seen.String() != "abcdefg" {
		t.Errorf("saw %q", seen.String())
	}
}

func TestRetryAfter(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"": 0, "7": 7 * time.Second, " 7 ": 7 * time.Second, "0.5": 500 * time.Millisecond, "0": 0, "-3": 0, "soon": 0,
		"1e9": 0, "NaN": 0, "Inf": 0,
		"Wed, 18 Mar 2026 12:00:30 GMT": 30 * time.Second,
		"Wed, 18 Mar 2026 11:00:00 GMT": 0,
	} {
		if got := retryAfter(http.Header{"Retry-After": {text}}, noon); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

func TestDefaultWaitsAreSpread(t *testing.T) {
	busy := apierror.New(apierror.UpstreamError, "x")
	seen := map[int64]bool{}
	for range 200 {
		s := seconds(busy, busy.Retry())
		if s < 10 || s > 20 {
			t.Fatalf("%d s is not between 10 and 20", s)
		}
		seen[s] = true
	}
	if len(seen) < 5 {
		t.Errorf("only %d different waits in 200", len(seen))
	}
	told := &apierror.Error{Code: apierror.UpstreamRateLimited, RetryAfter: 1500 * time.Millisecond}
	if s := seconds(told, told.Retry()); s != 2 {
		t.Errorf("a provider's 1.5 s became %d", s)
	}
}

func TestSpentSumsByCalendar(t *testing.T) {
	days := []activity.Day{
		{Date: "2026-03-18", CostNano: 1}, {Date: "2026-03-18", CostNano: 2}, // today
		{Date: "2026-03-16", CostNano: 10}, // Monday
		{Date: "2026-03-15", CostNano: 100},
		{Date: "2026-03-01", CostNano: 1000},
		{Date: "2026-02-28", CostNano: 10000},
	}
	all, day, week, month := spent(days, noon)
	if all != 11113 || day != 3 || week != 13 || month != 1113 {
		t.Errorf("all %d, day %d, week %d, month %d", all, day, week, month)
	}
	sunday := time.Date(2026, 3, 22, 23, 59, 0, 0, time.UTC)
	if _, day, week, _ = spent(days, sunday); day != 0 || week != 13 {
		t.Errorf("on Sunday: day %d, week %d", day, week)
	}
	first := time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC) // the week began in March
	days = append(days, activity.Day{Date: "2026-03-30", CostNano: 5})
	if _, _, week, month = spent(days, first); week != 5 || month != 0 {
		t.Errorf("on the first of April: week %d, month %d", week, month)
	}
}

func TestClientRequestIDIsOfPrintableASCII(t *testing.T) {
	header := func(pairs ...string) http.Header {
		h := http.Header{}
		for i := 0; i < len(pairs); i += 2 {
			h.Set(pairs[i], pairs[i+1])
		}
		return h
	}
	for _, c := range []struct {
		header http.Header
		want   string
	}{
		{header(), ""},
		{header("X-Client-Request-Id", "mine"), "mine"},
		{header("X-Request-Id", "theirs"), "theirs"},
		{header("X-Client-Request-Id", "mine", "X-Request-Id", "theirs"), "mine"},
		{header("X-Client-Request-Id", "a b"), "a b"},
		{header("X-Client-Request-Id", "a\tb"), ""},
		{header("X-Client-Request-Id", "é"), ""},
		{header("X-Client-Request-Id", "a\x7f"), ""},
		{header("X-Client-Request-Id", strings.Repeat("x", 128)), strings.Repeat("x", 128)},
		{header("X-Client-Request-Id", strings.Repeat("x", 129)), ""},
	} {
		if got := clientRequestID(c.header); got != c.want {
			t.Errorf("%v: %q, want %q", c.header, got, c.want)
		}
	}
}

func TestBearer(t *testing.T) {
	for text, want := range map[string]string{
		"Bearer abc": "abc", "bearer abc": "abc", "BEARER  abc ": "abc", "Basic abc": "", "abc": "", "": "", "Bearer": "", "Bearerabc": "",
	} {
		if got := bearer(http.Header{"Authorization": {text}}); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestParseFamily(t *testing.T) {
	for name, ids := range map[string]bool{"openai": false, "openrouter": true} {
		if f, err := parseFamily(name); err != nil || f.name() != name || f.showsGenerationID() != ids {
			t.Errorf("%s: %v, %v", name, f, err)
		}
	}
	if _, err := parseFamily("OpenAI"); err == nil || !strings.Contains(err.Error(), `unknown family "OpenAI"; known families: openai, openrouter`) {
		t.Errorf("error %v", err)
	}
}

func TestReadAllOfAnAnswer(t *testing.T) {
	text := strings.Repeat("answer ", 1000)
	for _, announced := range []int64{-1, int64(len(text)), 10} {
		for name, r := range map[string]io.Reader{
			"whole": strings.NewReader(text), "by bytes": iotest.OneByteReader(strings.NewReader(text)),
			"EOF with end": iotest.DataErrReader(strings.NewReader(text)),
		} {
			got, err := readAll(nil, r, announced)
			if string(got) != text || err != nil {
				t.Errorf("%s, announced %d: %d bytes, %v", name, announced, len(got), err)
			}
		}
	}
	broken := errors.New("broken")
	if got, err := readAll(nil, io.MultiReader(strings.NewReader("half"), iotest.ErrReader(broken)), 8); string(got) != "half" || !errors.Is(err, broken) {
		t.Errorf("got %q, %v", got, err)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

func TestReadAllIsBounded(t *testing.T) {
	if _, err := readAll(nil, iotest.ErrReader(errors.New("read")), maxAnswer+1); !errors.Is(err, errAnswerTooLarge) {
		t.Errorf("announced too large: %v", err)
	}
	if got, err := readAll(nil, zeros{}, -1); !errors.Is(err, errAnswerTooLarge) || cap(got) > 2*maxAnswer {
		t.Errorf("endless: capacity %d, %v", cap(got), err)
	}
}
