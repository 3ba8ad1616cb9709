package report

import (
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
)

// A field at the end of the list is a member and a column without more code.
func TestAFieldAtTheEndOfTheListIsShown(t *testing.T) {
	listed := activity.Fields
	t.Cleanup(func() { activity.Fields = listed })
	activity.Fields = append(activity.Fields[:len(listed):len(listed)], activity.Field{
		Name: "another", Of: func(r *activity.Record) any { return &r.Key }, Form: activity.OrNone,
	})
	log, _ := newLog(t, fullCall, activity.Record{ID: "gen-2", Tenant: "acme", CreatedAt: noon})
	got, err := query(t, log, "acme", "")
	if err != nil || jsontest.Count(t, got, `{"output_cap":100,"another":"dev"}`) != 1 || strings.Count(string(got), "another") != 1 {
		t.Errorf("%s, %v", got, err)
	}
	columns := makeCallColumns()
	if last := columns[len(columns)-1]; last.name != "another" || last.cell(&fullCall) != "dev" {
		t.Errorf("the last column is %s: %s", last.name, last.cell(&fullCall))
	}
}
