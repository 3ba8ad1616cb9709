package desktop

import (
	"context"
	"errors"
	"fmt"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// Bounds of a list that a control plane sends.
const (
	MaxSyncItems = 10_000  // workstations
	MaxSyncBytes = 8 << 20 // of its JSON: 800 bytes a workstation
	// fewReleased is how many workstations a source may have for all of them to be released by a list
	// that lacks them.
	fewReleased = 10
)

// Sync is the workstations that a source has, or some of them.
type Sync struct {
	Source string
	// Complete releases what the source has registered before and the list does not name.
	Complete bool
	Force    bool   // also if that is more than half of more than ten
	By       string // the key that registers
	items    []syncItem
}

// syncItem is one workstation of a list.
type syncItem struct {
	name string
	Registration
	err error // it cannot be read
}

// Synced is what a list has changed.
type Synced struct {
	Created   int       `json:"created"` // or in service again
	Changed   int       `json:"changed"`
	Released  int       `json:"released"`
	Unchanged int       `json:"unchanged"`
	Refused   []Refused `json:"refused"`
}

// Refused is an item that has changed nothing.
type Refused struct {
	Name    string        `json:"workstation_id"`
	Code    apierror.Code `json:"code"`
	Param   *string       `json:"param"`
	Message string        `json:"message"`
}

// Set sets a member from the JSON of a caller. It reports whether there is such a member.
func (l *Sync) Set(name string, value []byte) (known bool, err error) {
	switch name {
	case "source":
		return true, member(name, value, &l.Source, "a string")
	case "complete":
		return true, member(name, value, &l.Complete, "true or false")
	case "force":
		return true, member(name, value, &l.Force, "true or false")
	case "items":
		return true, l.setItems(value)
	}
	return false, nil
}

func (l *Sync) setItems(value []byte) error {
	if len(value) == 0 || value[0] != '[' {
		return invalid("items", errors.New("want an array"))
	}
	l.items = []syncItem{} // an empty one is a list too
	for span := range jsonscan.AllElements(value) {
		if len(l.items) == MaxSyncItems {
			return invalid("items", fmt.Errorf("a list has at most %d; send it in parts, without complete", MaxSyncItems))
		}
		item := syncItem{}
		item.err = item.parse(span.Value(value), func(name string, value []byte) (bool, error) {
			if name == "workstation_id" {
				return true, member(name, value, &item.name, "a string")
			}
			return item.Set(name, value)
		})
		l.items = append(l.items, item)
	}
	return nil
}

// check refuses a list as a whole.
func (l *Sync) check() error {
	if l.Source == "" {
		return apierror.New(apierror.MissingParameter, "source is missing: the name of the control plane whose list this is").WithParam("source")
	}
	if l.items == nil {
		return apierror.New(apierror.MissingParameter, "items is missing: the workstations").WithParam("items")
	}
	if param, err := (&Registration{Source: l.Source}).checkForm(); err != nil {
		return invalid(param, err)
	}
	return nil
}

// Apply releases the workstations of a tenant that a complete list lacks, and registers those that it has:
// a fleet that is replaced needs no room for both, and an address is free before the next has it.
// An item that is refused keeps what is registered under its name. Its errors are: those of a
// list that cannot be read; sync_refused, with nothing changed; storage_unavailable, with a part of it
// done: send it again.
func (l *Sync) Apply(ctx context.Context, g *Registry, tenant string) (done Synced, err error) {
	if !g.ready.Load() {
		return Synced{}, errNotStarted()
	}
	if err := l.check(); err != nil {
		return Synced{}, err
	}
	if err := g.inventory.state.catchUp(ctx); err != nil {
		return Synced{}, unavailable(err)
	}
	gone, err := l.lacking(g, tenant)
	if err != nil {
		return Synced{}, err
	}
	done.Refused = []Refused{}
	for name, machine := range gone {
		switch err := g.Release(ctx, tenant, name, Releaser{Key: l.By, Machine: &machine}); {
		case err == nil:
			done.Released++
		case !isRefusal(err): // else another machine has come meanwhile, or the release of somebody
			return done, err
		}
	}
	var todo []*syncItem
	for i := range l.items {
		item := &l.items[i]
		switch changes, err := l.changes(g, ID{tenant, item.name}, item); {
		case err != nil:
			done.refuse(item.name, err)
		case changes:
			todo = append(todo, item)
		default:
			done.Unchanged++
		}
	}
	if err := l.register(ctx, g, tenant, todo, &done); err != nil {
		return done, err
	}
	return done, nil
}

// lacking are the workstations of the source that a complete list does not name, with their machines.
func (l *Sync) lacking(g *Registry, tenant string) (gone map[string]string, err error) {
	named := make(map[string]bool, len(l.items))
	for i := range l.items {
		item := &l.items[i]
		switch {
		case item.name == "" && l.Complete: // which one must not be released?
			return nil, apierror.New(apierror.MissingParameter, "workstation_id is missing in items[%d]; nothing was changed", i).WithParam("workstation_id")
		case item.err == nil && named[item.name]:
			item.err = invalid("workstation_id", errors.New("the list names it twice"))
		}
		named[item.name] = true
	}
	if !l.Complete {
		return nil, nil
	}
	gone = make(map[string]string)
	s, has := g.inventory.state, 0
	s.records.mu.Lock()
	defer s.records.mu.Unlock()
	for id, p := range s.records.byID {
		if id.Tenant != tenant || !p.registered() || p.released() || p.record.Source != l.Source || g.inventory.config.declared[id] != nil {
			continue
		}
		if has++; !named[id.Name] {
			gone[id.Name] = p.record.Machine
		}
	}
	if !l.Force && has > fewReleased && len(gone) > has/2 {
		return nil, apierror.New(apierror.SyncRefused,
			"the list would release %d of the %d workstations of the source %q; nothing was changed", len(gone), has, l.Source)
	}
	return gone, nil
}

// changes reports whether an item that may be registered changes something.
func (l *Sync) changes(g *Registry, id ID, item *syncItem) (bool, error) {
	if item.err != nil {
		return false, item.err
	}
	if item.Source != "" && item.Source != l.Source {
		return false, invalid("source", errors.New("it is that of the list"))
	}
	if g.inventory.config.declared[id] != nil {
		return false, errDeclared(id)
	}
	item.Source, item.By = l.Source, l.By
	if err := g.inventory.config.check(id, &item.Registration); err != nil {
		return false, err
	}
	return !g.inventory.state.records.unchanged(id, &item.Registration), nil
}

// isRefusal reports whether an error is the fault of one item, and not of the storage.
func isRefusal(err error) bool {
	var refused *apierror.Error
	return errors.As(err, &refused) && refused.HTTPStatus() < 500
}

// count notes what became of an item. An error is that of the whole list.
func (d *Synced) count(name string, n plan, err error) error {
	switch {
	case err != nil && !isRefusal(err):
		return err
	case err != nil:
		d.refuse(name, err)
	case n.created || n.renewed:
		d.Created++
	case n.needed:
		d.Changed++
	default:
		d.Unchanged++
	}
	return nil
}

func (d *Synced) refuse(name string, err error) {
	refused := apierror.From(err)
	r := Refused{Name: clip(name), Code: refused.Code, Message: refused.Message}
	if refused.Param != "" {
		r.Param = &refused.Param
	}
	d.Refused = append(d.Refused, r)
}
