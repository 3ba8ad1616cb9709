package request

import (
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
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
