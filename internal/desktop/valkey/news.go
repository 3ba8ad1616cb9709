package valkey

import (
	"sync"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
)

// maxNews bounds the workstations that wait to be read. The next beat reads those beyond it.
const maxNews = 65_536

// news are the workstations of which events tell. A goroutine reads them while there are some: the one
// on which all events arrive must not wait for the engine.
type news struct {
	read func(ids ...desktop.ID)

	mu      sync.Mutex // guards the following
	unread  map[desktop.ID]bool
	reading chan struct{} // closed by the goroutine at its end; nil: there is none
	closed  bool
}

// add has a workstation read soon. One that is read at this moment is read again.
func (n *news) add(id desktop.ID) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed || len(n.unread) >= maxNews {
		return
	}
	n.unread[id] = true
	if n.reading == nil {
		n.reading = make(chan struct{})
		go n.readAll()
	}
}

func (n *news) readAll() {
	for ids := n.next(); len(ids) > 0; ids = n.next() {
		n.read(ids...)
	}
}

// next takes some that are unread. If it returns none, the goroutine has ended.
func (n *news) next() (ids []desktop.ID) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for id := range n.unread {
		if len(ids) == batch {
			break
		}
		ids = append(ids, id)
		delete(n.unread, id)
	}
	if len(ids) == 0 {
		close(n.reading)
		n.reading = nil
	}
	return ids
}

// await waits until all is read.
func (n *news) await() {
	n.mu.Lock()
	reading := n.reading
	n.mu.Unlock()
	if reading != nil {
		<-reading
	}
}

// close ends the reading, and waits for what is under way.
func (n *news) close() {
	n.mu.Lock()
	n.closed = true
	clear(n.unread)
	n.mu.Unlock()
	n.await()
}
