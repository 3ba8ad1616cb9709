package why

import (
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
)

// A field at the end of the list needs no member and no line.
func TestAnExplanationHasTheFactsOfTheList(t *testing.T) {
	listed := activity.Fields
	t.Cleanup(func() { activity.Fields = listed })
	activity.Fields = append(activity.Fields[:len(listed):len(listed)], activity.Field{
		Name: "another", Of: func(r *activity.Record) any { return &r.BytesUp }, Why: "Another",
	})
	e, err := explain(t.Context(), nil, &activity.Record{ID: "vnc-1", Ended: "viewer_left", BytesUp: 5})
	if err != nil || !strings.Contains(e.Text(), "\nAnother     5\n") {
		t.Errorf("%v:\n%s", err, e.Text())
	}
}
