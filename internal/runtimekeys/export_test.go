package runtimekeys

import "github.com/gatehouse-proxy/gatehouse/internal/store"

// Insertion is the operation that keeps a new record.
func Insertion(r *Record) store.Op { return &recordChange{after: r} }
