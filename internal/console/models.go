package console

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/keys"
)

const (
	// maxModelRows is how many models the page shows.
	maxModelRows = 300
	// modelDays is the time of the calls that the page shows.
	modelDays = 7 * 24 * time.Hour
)

// modelRow is a model of GET /api/v1/models, and what is known of its calls.
type modelRow struct {
	ID           string
	Name         string
	Context      int64 `json:"context_length"`
	Architecture struct {
		Inputs  []string `json:"input_modalities"`
		Outputs []string `json:"output_modalities"`
	}
	Pricing map[string]any
	Units   map[string]string `json:"unit_pricing"` // USD for one
	Top     struct {
		Output int64 `json:"max_completion_tokens"`
	} `json:"top_provider"`
	Parameters []string `json:"supported_parameters"`

	Note  string     // "alias"
	State *targetRow // of its provider's last calls; nil: none
	Week  callsOfDay
	Cost  float64
}

// Provider is the name before the slash, "" for an alias without one.
func (m *modelRow) Provider() string {
	provider, _, named := strings.Cut(m.ID, "/")
	if !named {
		return ""
	}
	return provider
}

// Title is what the model is called, "" if its name says it.
func (m *modelRow) Title() string {
	if _, name, _ := strings.Cut(m.ID, "/"); m.Name == name || m.Name == m.ID {
		return ""
	}
	return m.Name
}

// Chats reports whether the model answers with text.
func (m *modelRow) Chats() bool {
	return len(m.Architecture.Outputs) == 0 || slices.Contains(m.Architecture.Outputs, "text")
}

// ContextText and OutputText are tokens, in short.
func (m *modelRow) ContextText() string { return tokensText(m.Context) }

// OutputText is the longest answer.
func (m *modelRow) OutputText() string { return tokensText(m.Top.Output) }

func tokensText(n int64) string {
	if n <= 0 {
		return ""
	}
	return short(n)
}

// ability is what a model takes or makes.
type ability struct {
	value, Name string
	has         func(*modelRow) bool
}

var abilities = []ability{
	{"tools", "tools", func(m *modelRow) bool { return slices.Contains(m.Parameters, "tools") }},
	{"image", "images", func(m *modelRow) bool { return slices.Contains(m.Architecture.Inputs, "image") }},
	{"file", "files", func(m *modelRow) bool { return slices.Contains(m.Architecture.Inputs, "file") }},
	{"audio", "audio", func(m *modelRow) bool { return slices.Contains(m.Architecture.Inputs, "audio") }},
	{"reasoning", "reasoning", func(m *modelRow) bool { return slices.Contains(m.Parameters, "reasoning") }},
	{"makes-image", "makes images", func(m *modelRow) bool { return slices.Contains(m.Architecture.Outputs, "image") }},
	{"embeds", "embeds", func(m *modelRow) bool { return slices.Contains(m.Architecture.Outputs, "embeddings") }},
}

// Abilities are what the model has of them.
func (m *modelRow) Abilities() (names []string) {
	for _, a := range abilities {
		if a.has(m) {
			names = append(names, a.Name)
		}
	}
	return names
}

// Try is the page where it can be asked.
func (m *modelRow) Try() string { return Prefix + "/try?" + url.Values{"model": {m.ID}}.Encode() }

// Calls is the list of its calls of the week.
func (m *modelRow) Calls() string {
	return activityLink(&span{Choice: "7d"}, url.Values{"model": {m.ID}})
}

// modelOrders are the orders of the list.
var modelOrders = []struct {
	value, Name string
	compare     func(a, b *modelRow) int
}{
	{"name", "name", func(*modelRow, *modelRow) int { return 0 }},
	{"used", "most used", func(a, b *modelRow) int { return cmp.Compare(b.Week.Requests, a.Week.Requests) }},
	{"price", "cheapest", func(a, b *modelRow) int { return cmp.Compare(a.dear(), b.dear()) }},
	{"context", "longest context", func(a, b *modelRow) int { return cmp.Compare(b.Context, a.Context) }},
}

// modelsPage is what its template shows.
type modelsPage struct {
	Find, Provider, Takes, Sort string
	Providers                   []string
	Abilities                   []ability
	Orders                      []option

	Rows        []modelRow
	All, More   int
	Unpriced    int // of those shown
	Week        bool
	Asked       string       // a name that somebody expects
	Reason      *modelReason // whether it can be called; nil: the key may not see that
	MayAsk      bool
	MayTry      bool
	HardBudgets bool // a budget of money refuses models without a price
}

// modelReason is the answer of GET /v1/providers about a model.
type modelReason struct {
	ID             string
	Callable       bool
	Reason, Advice string
}

// models shows what the key can call.
func models(v *visit) error {
	p := modelsPage{
		Find: v.query.Get("find"), Provider: v.query.Get("provider"), Takes: v.query.Get("takes"), Sort: v.query.Get("sort"),
		Abilities: abilities, Week: v.has(keys.ActivityRead), MayAsk: v.has(keys.ProvidersRead), MayTry: v.has(keys.ChatWrite), Asked: v.query.Get("why"),
	}
	var answer struct{ Data []modelRow }
	if err := v.get("/api/v1/models", url.Values{"output_modalities": {"all"}, "limit": {"1000"}}, &answer); err != nil {
		return err
	}
	p.All = len(answer.Data)
	if err := p.add(v, answer.Data); err != nil {
		return err
	}
	p.choose(answer.Data)
	for _, o := range modelOrders {
		href, err := query(v.r.URL.RequestURI(), "sort", o.value)
		if err != nil {
			return err
		}
		p.Orders = append(p.Orders, option{Name: o.Name, Href: href, Current: o.value == cmp.Or(p.Sort, modelOrders[0].value)})
	}
	if p.Unpriced > 0 {
		var limits struct{ Data []limitRow }
		_ = v.get("/api/v1/limits", url.Values{"limit": {"100"}}, &limits) // without it there is one hint less
		p.HardBudgets = slices.ContainsFunc(limits.Data, func(l limitRow) bool { return l.Type == "budget" && l.Unit == "usd" && !l.Soft })
	}
	return v.render("models", &p)
}

// add adds what calls have shown, and why a name cannot be called, as far as the key may see it.
func (p *modelsPage) add(v *visit, rows []modelRow) error {
	notes := notesOfModels(v)
	for i := range rows {
		rows[i].Note = notes[rows[i].ID]
	}
	if p.MayAsk {
		q := url.Values{}
		if p.Asked != "" {
			q.Set("model", p.Asked)
		}
		var answer struct {
			Data  []providerCard
			Model *modelReason
		}
		if err := v.get("/v1/providers", q, &answer); err != nil {
			return err
		}
		p.Reason = answer.Model
		states := make(map[string]*targetRow)
		for i := range answer.Data {
			for j := range answer.Data[i].Targets {
				t := &answer.Data[i].Targets[j]
				if worst := states[t.Model]; worst == nil || t.rank() < worst.rank() {
					states[t.Model] = t
				}
			}
		}
		for i := range rows {
			rows[i].State = states[rows[i].ID]
		}
	}
	if !p.Week {
		return nil
	}
	to := v.now.UTC().Truncate(time.Hour).Add(time.Hour)
	lines, err := linesBy(v, "model", "day", to.Add(-modelDays), to, nil)
	for i := range rows {
		if line := lines[rows[i].ID]; line != nil {
			rows[i].Week, rows[i].Cost = line.calls(), line.Total.Cost
		}
	}
	return err
}

// choose filters and sorts.
func (p *modelsPage) choose(rows []modelRow) {
	for i := range rows {
		if name := rows[i].Provider(); name != "" && !slices.Contains(p.Providers, name) {
			p.Providers = append(p.Providers, name)
		}
	}
	slices.Sort(p.Providers)
	words := strings.Fields(strings.ToLower(p.Find))
	at := slices.IndexFunc(abilities, func(a ability) bool { return a.value == p.Takes })
	rows = slices.DeleteFunc(rows, func(m modelRow) bool {
		text := strings.ToLower(m.ID + " " + m.Name)
		return p.Provider != "" && m.Provider() != p.Provider || at >= 0 && !abilities[at].has(&m) ||
			slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(text, word) })
	})
	for _, o := range modelOrders {
		if o.value == p.Sort {
			slices.SortStableFunc(rows, func(a, b modelRow) int { return o.compare(&a, &b) })
		}
	}
	for i := range rows {
		if !rows[i].Priced() {
			p.Unpriced++
		}
	}
	p.Rows = rows[:min(len(rows), maxModelRows)]
	p.More = len(rows) - len(p.Rows)
}

// Value is what the form sends for the ability.
func (a ability) Value() string { return a.value }
