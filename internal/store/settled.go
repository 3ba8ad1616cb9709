package store

// Settled is an Op whose memory can be used again when the store needs it no more.
type Settled interface {
	Op
	// Settled is called by the writer's goroutine, at most once, after the operation was committed or
	// rejected. No other method is called afterwards.
	Settled()
}

// release drops operations that were committed or rejected.
func release(ops []Op) {
	for _, op := range ops {
		if op, ok := op.(Settled); ok {
			op.Settled()
		}
	}
	clear(ops)
}
