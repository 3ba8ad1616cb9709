// Package desktoptest has what tests of workstations share: a storage, viewers, and what they expect.
package desktoptest

import (
	"bytes"
	"context"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
)

// Storage implements [desktop.Storage] in memory. The zero value is empty. The fields are set before it is
// used.
type Storage struct {
	Before func(op, key string)            // called first, without a lock; may be nil
	Wait   func(ctx context.Context) error // called in Store, without a lock; may be nil

	mu     sync.Mutex // guards the following
	values map[string][]byte
	fail   error // of every call, if set
}

// FailWith makes every call fail, nil none.
func (s *Storage) FailWith(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail = err
}

// Put stores a value whatever FailWith says.
func (s *Storage) Put(key string, value []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.values == nil {
		s.values = make(map[string][]byte)
	}
	s.values[key] = bytes.Clone(value)
}

// Values returns a copy of all.
func (s *Storage) Values() map[string][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.values)
}

func (s *Storage) enter(op, key string) error {
	if s.Before != nil {
		s.Before(op, key)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fail
}

// Store implements [desktop.Storage].
func (s *Storage) Store(ctx context.Context, key string, value []byte) error {
	if err := s.enter("store", key); err != nil {
		return err
	}
	if s.Wait != nil {
		if err := s.Wait(ctx); err != nil {
			return err
		}
	}
	s.Put(key, value)
	return ctx.Err()
}

// Load implements [desktop.Storage].
func (s *Storage) Load(_ context.Context, key string) ([]byte, error) {
	if err := s.enter("load", key); err != nil {
		return nil, err
	}
	if value, ok := s.Values()[key]; ok {
		return value, nil
	}
	return nil, fs.ErrNotExist
}

// Delete implements [desktop.Storage].
func (s *Storage) Delete(_ context.Context, key string) error {
	if err := s.enter("delete", key); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.values, key)
	return nil
}

// List implements [desktop.Storage].
func (s *Storage) List(_ context.Context, path string, _ bool) ([]string, error) {
	if err := s.enter("list", path); err != nil {
		return nil, err
	}
	keys := slices.Sorted(maps.Keys(s.Values()))
	if len(keys) == 0 {
		return nil, fs.ErrNotExist
	}
	return slices.DeleteFunc(keys, func(k string) bool { return !strings.HasPrefix(k, path+"/") }), nil
}
