package files

import "syscall"

func (s *Stamp) identify(sys any) {
	if st, ok := sys.(*syscall.Stat_t); ok {
		s.Device, s.Inode, s.Changed = uint64(st.Dev), st.Ino, st.Ctimespec.Nano()
	}
}
