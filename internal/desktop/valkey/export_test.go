package valkey

// Poll is what Desktops does every second.
func (d *Desktops) Poll() { d.poll() }

// AwaitNews waits until Desktops has read what events told.
func (d *Desktops) AwaitNews() { d.news.await() }
