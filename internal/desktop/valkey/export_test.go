package valkey

// Poll is what Desktops does every second.
func (d *Desktops) Poll() { d.poll() }
