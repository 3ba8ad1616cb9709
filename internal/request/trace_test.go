package request

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/inflight"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
)

// The rules are those of W3C Trace Context, section 3.2.2.
func TestTheTraceOfACaller(t *testing.T) {
	const id, span = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
	for parent, want := range map[string]string{
		"00-" + id + "-" + span + "-01":                               id,
		"00-" + id + "-" + span + "-00":                               id,
		"cc-" + id + "-" + span + "-01":                               id,
		"cc-" + id + "-" + span + "-01-what":                          id,
		"":                                                            "",
		"00-" + id + "-" + span:                                       "",
		"00-" + id + "-" + span + "-01-what":                          "",
		"cc-" + id + "-" + span + "-01.what":                          "",
		"ff-" + id + "-" + span + "-01":                               "",
		"0x-" + id + "-" + span + "-01":                               "",
		"00-" + id + "-" + span + "-0g":                               "",
		"00-" + strings.ToUpper(id) + "-" + span + "-01":              "",
		"00-" + strings.Repeat("0", 32) + "-" + span + "-01":          "",
		"00-" + id + "-" + strings.Repeat("0", 16) + "-01":            "",
		"00_" + id + "-" + span + "-01":                               "",
		"00-" + id + "_" + span + "-01":                               "",
		"00-" + id + "-" + span + "_01":                               "",
		strings.Repeat("0", 55):                                       "",
		"00-" + id[:31] + "\x00-" + span + "-01":                      "",
		"cc-" + id + "-" + span + "-01-" + strings.Repeat("x", 1<<20): id,
	} {
		if got := traceOf(parent); got != want {
			t.Errorf("%.70q: got %q, want %q", parent, got, want)
		}
	}
	o := Outcome{Record: &activity.Record{TraceID: "of the span"}}
	if o.JoinTrace("00-" + id + "-" + span + "-01"); o.Record.TraceID != "of the span" {
		t.Errorf("the trace that is recorded became %q", o.Record.TraceID)
	}
}

// A trace that a caller only names is in the row, and no exemplar of a metric: nobody may have recorded it.
func TestATraceThatIsNotRecordedIsNoExemplar(t *testing.T) {
	const id = "0af7651916cd43dd8448eb211c80319c"
	var calls inflight.Set
	calls.Init(func() bool { return true }, func() {})
	d := &Deps{InFlight: &calls, Now: time.Now}
	for _, test := range []struct {
		parents []string
		want    string
	}{
		{[]string{"00-" + id + "-b7ad6b7169203331-01"}, id},
		{[]string{"00-" + id + "-b7ad6b7169203331-01", "00-" + id + "-b7ad6b7169203331-01"}, ""},
		{nil, ""},
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header["Traceparent"] = test.parents
		q, err := Begin(d, httptest.NewRecorder(), r, Caller{Credential: keys.Credential{Key: new(keys.Key)}}, Route{}, IDs{})
		if err != nil {
			t.Fatal(err)
		}
		if got := q.Outcome.Record.TraceID; got != test.want || q.Outcome.exemplar != "" {
			t.Errorf("%q: the row has %q, the exemplar %q", test.parents, got, q.Outcome.exemplar)
		}
	}
}
