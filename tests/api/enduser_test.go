package api

import (
	"encoding/csv"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// column returns a member of each row of an answer, the oldest row first.
func column(t *testing.T, a harness.Answer, name string) (values []string) {
	t.Helper()
	rows, _ := harness.At(harness.Parse(t, a.Body), "data").([]any)
	for _, row := range slices.Backward(rows) {
		values = append(values, fmt.Sprint(harness.At(row, name)))
	}
	return values
}

// A caller of any API names its end user and its app, and finds their calls and sums again.
func TestCallsAreFoundByTheirEndUserAndApp(t *testing.T) {
	h := harness.Start(t, harness.Setup{})
	call := func(path, body, app string) {
		t.Helper()
		r := h.Client.Request(path, "full", body)
		r.Header.Set("Anthropic-Version", "2023-06-01")
		if app != "" {
			r.Header.Set("X-Title", app)
		}
		if a := h.Client.Send(r); a.Status != 200 {
			t.Fatalf("%s: %d %s", path, a.Status, a.Body)
		}
	}
	call(harness.ChatV1, harness.Chat("fake/echo", `,"user":"ada"`), "Acme Chat")
	call("/api/v1/chat/completions", harness.Chat("fake/echo", `,"user":"bob"`), "")
	call(harness.ResponsesV1, harness.Responses("fake/echo", `,"safety_identifier":"ada"`), "")
	call("/v1/messages", harness.Chat("fake/echo", `,"max_tokens":50,"metadata":{"user_id":"eve"}`), "Acme Chat")
	call(harness.ChatV1, harness.Chat("fake/echo", ""), "")

	all := h.Client.Get("/api/v1/activity", "full")
	if got, want := column(t, all, "end_user"), []string{"ada", "bob", "ada", "eve", "<nil>"}; !reflect.DeepEqual(got, want) {
		t.Errorf("end users %q, want %q", got, want)
	}
	if got, want := column(t, all, "app"), []string{"Acme Chat", "<nil>", "<nil>", "Acme Chat", "<nil>"}; !reflect.DeepEqual(got, want) {
		t.Errorf("apps %q, want %q", got, want)
	}
	for filter, want := range map[string]int{"end_user=ada": 2, "app=Acme%20Chat": 2, "end_user=eve&app=Acme%20Chat": 1, "end_user=nobody": 0} {
		if got := column(t, h.Client.Get("/api/v1/activity?"+filter, "full"), "id"); len(got) != want {
			t.Errorf("%s: %d rows, want %d", filter, len(got), want)
		}
	}
	sums := harness.Parse(t, h.Client.Get("/api/v1/activity/series?by=end_user&app=Acme%20Chat", "full").Body)
	lines, _ := harness.At(sums, "data").([]any)
	var named []string
	for _, line := range lines {
		named = append(named, fmt.Sprint(harness.At(line, "name"), " ", harness.At(line, "total", "requests")))
	}
	slices.Sort(named)
	if want := []string{"ada 1", "eve 1"}; !slices.Equal(named, want) {
		t.Errorf("sums of the app by end user: %q, want %q", named, want)
	}
	lists, err := csv.NewReader(strings.NewReader(string(h.Client.Get("/api/v1/activity?format=csv&end_user=bob", "full").Body))).ReadAll()
	if err != nil || len(lists) != 2 || lists[1][slices.Index(lists[0], "end_user")] != "bob" {
		t.Errorf("CSV: %q, %v", lists, err)
	}
	id := column(t, h.Client.Get("/api/v1/activity?end_user=eve", "full"), "id")[0]
	if v := harness.Parse(t, h.Client.Get("/api/v1/generation?id="+id, "full").Body); harness.At(v, "data", "external_user") != "eve" {
		t.Errorf("the generation has %v", harness.At(v, "data", "external_user"))
	}
}
