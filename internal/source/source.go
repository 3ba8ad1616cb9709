// Package source asks a control plane which machine the name of a workstation means, and who may have
// it. A [Source] is one webhook, or a module that others wrote:
//
//	s, err := source.NewWebhook(source.Webhook{URL: "https://…", …}, source.Config{Name: "lab", …})
//	s, err := source.New(source.Config{Name: "lab", Plane: module, …})
//	s.Inherit(before)                   // of the configuration before: answers and health go on
//	answer, err := s.Resolve(q, since)  // cached, or asked now; err is a *source.Failure
//	answer, ok := s.Last(q, since)      // the last "allow", where the control plane is away
//	items, err := s.List(tenant)
//
//	resolve   a question for a workstation
//	list      all workstations of a tenant
//	question  what is asked and answered, as JSON
//	failure   one question within its bounds, and why it has no answer
//	webhook   one question by POST
//	sign      its signature (Standard Webhooks)
//	answers   answers by question; equal questions that are under way are asked once
//	health    when the control plane counts as down, and how it is tried
//
// A question is asked in the goroutine of its first caller and ends with the timeout of the source,
// so nothing here runs by itself. Answers have passwords: they are in memory only, and fmt prints
// none of them.
package source

import (
	"cmp"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/caddymodule/guest"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
)

// Defaults and bounds of a Config.
const (
	DefaultTimeout = 2 * time.Second
	DefaultCache   = 30 * time.Second
	DefaultStale   = 10 * time.Minute

	maxTimeout = 10 * time.Second // a viewer waits for it
	maxCache   = 5 * time.Minute  // a workstation that has moved is found after it at the latest
	maxStale   = 24 * time.Hour
)

// Config is what New needs.
type Config struct {
	Name    string        // in logs, metrics and lists
	Plane   guest.Source  // of a webhook its own
	Same    string        // what is equal for two sources that ask the same control plane
	Timeout time.Duration // of one question; default 2 s, at most 10 s
	Cache   time.Duration // how long an "allow" counts; default 30 s, at most 5 min
	Stale   time.Duration // how long Last has it, while the control plane is down; default 10 min
	Logger  *zap.Logger
	Now     func() time.Time
}

// Source is a control plane, and what it has answered. It is safe for concurrent use.
type Source struct {
	config Config
	asked  chan struct{} // a semaphore for questions under way
	memory *memory
}

// New checks a configuration and asks nothing.
func New(c Config) (*Source, error) {
	c.Timeout = cmp.Or(c.Timeout, DefaultTimeout)
	c.Cache = cmp.Or(c.Cache, DefaultCache)
	c.Stale = cmp.Or(c.Stale, DefaultStale)
	for _, o := range []struct {
		name       string
		value, max time.Duration
	}{{"timeout", c.Timeout, maxTimeout}, {"cache", c.Cache, maxCache}, {"stale", c.Stale, maxStale}} {
		if o.value < 0 || o.value > o.max {
			return nil, fmt.Errorf("%s %s: want at most %s", o.name, o.value, o.max)
		}
	}
	return &Source{c, make(chan struct{}, maxAsked), newMemory(c.Now)}, nil
}

// Name is that of the configuration.
func (s *Source) Name() string { return s.config.Name }

// Inherit has s go on with the answers and the health of another one, if that asks the same control
// plane. It is called before s is used.
func (s *Source) Inherit(before desktop.ControlPlane) {
	if b, ok := before.(*Source); ok && b.config.Name == s.config.Name && b.config.Same == s.config.Same {
		s.memory = b.memory
	}
}

// Format implements fmt.Formatter: a Source has secrets and passwords.
func (s *Source) Format(f fmt.State, _ rune) { _, _ = fmt.Fprintf(f, "source %s", s.config.Name) }

// Down returns since when the control plane does not answer; false while it does.
func (s *Source) Down() (since time.Time, down bool) { return s.memory.down() }

// answer returns the result of a key, if one counts that was asked at since or later, else that of ask.
func (s *Source) answer(k key, since time.Time, ask func() result) result {
	r, asked := s.memory.answer(k, since, ask)
	if asked && r.failure != nil {
		s.log(r.failure, k)
	}
	return r
}

// log logs a failure.
func (s *Source) log(failure *Failure, k key) {
	s.config.Logger.Warn("the source of workstations gave no answer that counts", zap.String("source", s.config.Name),
		zap.String("code", failure.Code), zap.String("tenant", k.tenant), zap.String("workstation", k.name), zap.Error(failure.Err))
}
