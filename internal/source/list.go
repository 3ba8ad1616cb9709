package source

import (
	"errors"
	"time"
)

const (
	pageItems = 500
	maxPages  = 20 // as many workstations as there are answers
)

// ErrNoList means that a control plane has no list.
var ErrNoList = errors.New("the source has no list")

// List returns the workstations of a tenant. It is as old as an "allow" can be, and older while the
// control plane is down. The error is [ErrNoList], or a [*Failure] where none has come for a while.
// A failure here does not count against the control plane: people need no list for their desktops.
func (s *Source) List(tenant string) ([]Item, error) {
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
		return nil, ErrNoList
	}
	return r.items, nil
}

// list asks for all pages.
func (s *Source) list(tenant string) (r result) {
	r.answer.Asked = s.config.Now()
	r.stale = r.answer.Asked.Add(s.config.Stale)
	question := listQuestion{head: s.head(typeList, tenant), Limit: pageItems}
	for range maxPages {
		body, failure := s.webhook.ask(question, maxListAnswer)
		var items []Item
		var err error
		if failure == nil {
			if items, question.Cursor, err = parseList(body); err != nil {
				failure = &Failure{FailedInvalid, err}
			}
		}
		if failure != nil {
			return result{answer: r.answer, failure: failure, until: s.config.Now().Add(negative)}
		}
		if r.items == nil {
			r.items = items
		} else {
			r.items = append(r.items, items...)
		}
		if items == nil || question.Cursor == "" || len(r.items) >= maxAnswers {
			break
		}
	}
	r.until = s.config.Now().Add(s.config.Cache)
	return r
}
