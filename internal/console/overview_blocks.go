package console

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/keys"
)

// overviewRows is how many rows a block has. Its own page has all.
const overviewRows = 6

// budgetsBlock has the budgets of which the least is left.
type budgetsBlock struct {
	block
	Rows      []limitRow
	Own       bool     // the key sees only its own
	Exhausted []string // whose budgets, besides the key's own, keep its calls out
	all       []limitRow
}

// nearlySpent is what share of a budget is used if a gateway has more budgets than a page.
const nearlySpent = "0.8"

func (b *budgetsBlock) read(v *visit) error {
	if err := b.readRows(v); err != nil {
		return err
	}
	return b.readExhausted(v)
}

func (b *budgetsBlock) readRows(v *visit) error {
	b.Own = !v.has(keys.LimitsRead)
	var answer struct {
		Data []limitRow
		Next *string `json:"next_cursor"`
	}
	q := url.Values{"type": {"budget"}, "limit": {"200"}}
	if err := v.get("/api/v1/limits", q, &answer); err != nil {
		return err
	}
	if answer.Next != nil {
		q.Set("min_used", nearlySpent)
		q.Set("limit", "1000")
		if err := v.get("/api/v1/limits", q, &answer); err != nil {
			return err
		}
	}
	rows := slices.DeleteFunc(answer.Data, func(r limitRow) bool { return r.Used == nil })
	slices.SortStableFunc(rows, func(x, y limitRow) int { return cmp.Compare(*y.Used, *x.Used) })
	b.Rows, b.all = rows[:min(len(rows), overviewRows)], rows
	for i := range b.Rows {
		if kind, name, _ := strings.Cut(b.Rows[i].Subject, ":"); kind == "key" {
			b.Rows[i].Subject = kind + ":" + keyName(v, name)
		}
	}
	return nil
}

func (b *budgetsBlock) readExhausted(v *visit) error {
	var key struct{ Data struct{ Exhausted []string } }
	err := v.get("/api/v1/key", nil, &key)
	b.Exhausted = slices.DeleteFunc(key.Data.Exhausted, func(subject string) bool { return strings.HasPrefix(subject, "key:") })
	return err
}

// providersBlock has the providers, those that fail first.
type providersBlock struct {
	block
	Rows []providerCard
	More int
	all  []providerCard
}

func (b *providersBlock) read(v *visit, day map[string]callsOfDay) error {
	if !v.has(keys.ProvidersRead) {
		b.Needs = keys.ProvidersRead.String()
		return nil
	}
	cards, err := readProviders(v)
	if err != nil {
		return err
	}
	for i := range cards {
		cards[i].Day = day[cards[i].ID]
	}
	slices.SortStableFunc(cards, func(x, y providerCard) int {
		return cmp.Or(cmp.Compare(x.Worst.rank(), y.Worst.rank()), cmp.Compare(y.Day.Requests, x.Day.Requests))
	})
	b.Rows, b.all = cards[:min(len(cards), overviewRows)], cards
	b.More = len(cards) - len(b.Rows)
	return nil
}

// day are the calls of the last day of the answer, by the names of its lines.
func (a *seriesAnswer) day() map[string]callsOfDay {
	found := make(map[string]callsOfDay, len(a.Data))
	for i := range a.Data {
		sum := sumUp(a.Data[i].Points, a.lastDay(), a.To)
		found[a.Data[i].Name] = callsOfDay{Requests: sum.Requests, Errors: sum.Errors}
	}
	return found
}

// toolsBlock has the MCP servers that the key reaches, those that fail first. Without any it is not there.
type toolsBlock struct {
	block
	Rows []serverRow
	More int
	all  []serverRow
}

func (b *toolsBlock) read(v *visit, day map[string]callsOfDay) error {
	if !v.has(keys.MCPCall) {
		return nil
	}
	rows, err := readServers(v)
	for i := range rows {
		rows[i].Day = day[rows[i].ID]
	}
	slices.SortStableFunc(rows, func(x, y serverRow) int {
		switch {
		case x.Failing() == y.Failing():
			return cmp.Compare(y.Day.Requests, x.Day.Requests)
		case x.Failing():
			return -1
		}
		return 1
	})
	b.Rows, b.all = rows[:min(len(rows), overviewRows)], rows
	b.More = len(rows) - len(b.Rows)
	return err
}

// desktopsBlock has the open sessions, and workstations that can be opened.
type desktopsBlock struct {
	block
	Hidden   bool // the gateway has no workstations
	Sessions []sessionRow
	More     int
	Free     []workstationRow
	Own      bool // the key sees only its own sessions
	all      []workstationRow
	sources  []sourceList
}

func (b *desktopsBlock) read(v *visit) error {
	b.Own = !v.has(keys.WorkstationsManage)
	if b.Own && !v.has(keys.WorkstationsConnect) {
		b.Needs = keys.WorkstationsConnect.String()
		return nil
	}
	sessions, err := openSessions(v, nil)
	if err != nil {
		b.Hidden = isUnknownURL(err)
		return err
	}
	b.Sessions = sessions[:min(len(sessions), overviewRows)]
	b.More = len(sessions) - len(b.Sessions)
	for i := range b.Sessions {
		b.Sessions[i].rowKey = named(v, b.Sessions[i].Key)
	}
	if b.all, b.sources, err = readWorkstations(v); err != nil {
		return err
	}
	for _, d := range b.all {
		if d.State == "available" && d.Open() != "" && len(b.Free) < overviewRows {
			b.Free = append(b.Free, d)
		}
	}
	return nil
}
