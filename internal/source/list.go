package source

import (
	"context"
	"errors"
	"time"

	"github.com/gatehouse-proxy/gatehouse/caddymodule/guest"
)

const (
	pageItems = 500
	maxPages  = 20 // as many workstations as there are answers
)

// List returns the workstations of a tenant. It is as old as an "allow" can be, and older while the
// control plane is down. The error is [guest.ErrNoList], or a [*Failure] where none has come for a
// while.
// A failure here does not count against the control plane: people need no list for their desktops.
func (s *Source) List(tenant string) ([]guest.Item, error) {
	k := key{tenant: tenant}
	r := s.answer(k, time.Time{}, func() result { return s.list(tenant) })
	if r.failure != nil {
		if last, ok := s.memory.last(k); ok {
			r = last
		}
	}
	switch {
	case r.failure != nil:
		return nil, r.failure
	case r.items == nil:
		return nil, guest.ErrNoList
	}
	return r.items, nil
}

// list asks for all pages.
func (s *Source) list(tenant string) (r result) {
	r.answer.Asked = s.config.Now()
	r.stale = r.answer.Asked.Add(s.config.Stale)
	cursor, more := "", true
	for page := 0; more && page < maxPages && len(r.items) < maxAnswers; page++ {
		failure := s.ask(func(ctx context.Context) error {
			items, next, err := s.config.Plane.List(ctx, tenant, cursor)
			cursor, more = next, next != ""
			if errors.Is(err, guest.ErrNoList) {
				return nil
			}
			if r.items == nil {
				r.items = []guest.Item{}
			}
			r.items = append(r.items, items[:min(len(items), maxAnswers)]...)
			return err
		})
		if failure != nil {
			return result{answer: r.answer, failure: failure, until: s.config.Now().Add(negative)}
		}
	}
	r.until = s.config.Now().Add(s.config.Cache)
	return r
}
