package operator

import (
	"encoding/json"
	"os"
	"regexp"
	"testing"
)

// panel is one of a dashboard. A row has the panels below it only while it is closed.
type panel struct {
	ID          int
	Type        string
	Title       string
	Description string
	Targets     []struct{ Expr, LegendFormat string }
	Collapsed   bool
	Panels      []panel
}

func checkDashboard(t *testing.T, page map[string]*metricFamily) {
	text, err := os.ReadFile("../../docs/observability/dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Templating struct {
			List []struct{ Name, Type, Definition string }
		}
		Panels []panel
	}
	if err := json.Unmarshal(text, &dashboard); err != nil {
		t.Fatal(err)
	}
	expressions, ids, closed := 0, map[int]bool{}, false
	var all []panel
	for _, p := range dashboard.Panels {
		all = append(append(all, p), p.Panels...)
		// The first screens are of model calls. What not everybody has is in closed rows below.
		closed = closed || p.Title == "Tools"
		if p.Type == "row" && (p.Collapsed != closed || closed && len(p.Panels) == 0) || p.Type != "row" && closed {
			t.Errorf("%s: the row Tools and those below it are closed, and have their panels", p.Title)
		}
	}
	for _, p := range all {
		if ids[p.ID] || p.Type != "row" && (len(p.Targets) == 0 || p.Description == "") {
			t.Errorf("%s: id %d again, no expression or no description", p.Title, p.ID)
		}
		ids[p.ID] = true
		for _, target := range p.Targets {
			expressions++
			checkExpression(t, page, target.Expr, target.LegendFormat)
		}
	}
	values := regexp.MustCompile(`^label_values\((.*), (\w+)\)$`)
	for _, v := range dashboard.Templating.List {
		if m := values.FindStringSubmatch(v.Definition); m != nil {
			expressions++
			checkExpression(t, page, m[1], "{{"+m[2]+"}}")
		} else if v.Type != "datasource" {
			t.Errorf("the variable %s is %q", v.Name, v.Definition)
		}
	}
	if expressions < 40 {
		t.Errorf("only %d expressions were looked at", expressions)
	}
}
