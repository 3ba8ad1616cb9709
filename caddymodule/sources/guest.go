package sources

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse-proxy/gatehouse/caddymodule/core"
	"github.com/gatehouse-proxy/gatehouse/caddymodule/guest"
	"github.com/gatehouse-proxy/gatehouse/internal/source"
)

// namespace has the modules that others wrote.
const namespace = "gatehouse.sources"

// UnmarshalJSON takes a member with the name of a module for a guest.
func (s *Source) UnmarshalJSON(text []byte) error {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(text, &all); err != nil {
		return err
	}
	for _, m := range caddy.GetModules(namespace) {
		if raw, ok := all[m.ID.Name()]; ok {
			s.add(m.ID, raw)
			delete(all, m.ID.Name())
		}
	}
	return core.DecodeStrict(all, &s.SourceSettings)
}

// MarshalJSON is the reverse of UnmarshalJSON.
func (s Source) MarshalJSON() ([]byte, error) {
	out, err := json.Marshal(s.SourceSettings)
	if err != nil || len(s.Guest) == 0 {
		return out, err
	}
	more, err := json.Marshal(s.Guest)
	return append(append(out[:len(out)-1], ','), more[1:]...), err
}

// JSONShape is that of a source without a guest.
func (Source) JSONShape() any { return SourceSettings{} }

func (s *Source) add(id caddy.ModuleID, raw json.RawMessage) {
	if s.Guest == nil {
		s.Guest = caddy.ModuleMap{}
	}
	s.Guest[id.Name()] = raw
}

// guest reads the option of a module.
func (s *Source) guest(id caddy.ModuleID) func(*caddyfile.Dispenser) error {
	return func(d *caddyfile.Dispenser) error {
		module, err := caddyfile.UnmarshalModule(d, string(id))
		if err != nil {
			return err
		}
		raw, err := json.Marshal(module)
		s.add(id, raw)
		return err
	}
}

// loadGuest makes the control plane that a module asks.
func (s *Source) loadGuest(ctx caddy.Context) (*source.Source, error) {
	guests := s.Guest // loading empties the field
	loaded, err := ctx.LoadModule(s, "Guest")
	if err != nil {
		return nil, err
	}
	for name, module := range loaded.(map[string]any) {
		plane, ok := module.(guest.Source)
		if !ok || len(guests) > 1 {
			return nil, fmt.Errorf("%s: want one module, of the kind guest.Source", name)
		}
		return source.New(source.Config{Name: s.Name, Plane: plane, Same: name + string(guests[name]), Logger: ctx.Logger(), Now: time.Now})
	}
	return nil, nil // there is one
}
