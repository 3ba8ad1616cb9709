package recording

// Drain waits until the disk has taken what waits for it, but for less than a chunk.
func (w *Writer) Drain() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.pending) >= flushAt {
		w.patience = maxWait
		w.wait()
	}
}
