import TestSupport
import Testing

@Suite(
    .oneAtATime,
    .enabled(
        if: isInstalled("make") && isInstalled("cc"), "make and a C compiler are not installed"))
struct MakeTests {
    @Test(arguments: DataPath.mounts)
    func `a C project builds, runs and rebuilds only what changed`(_ dataPath: DataPath) throws {
        try withVolume(dataPath) { volume in
            let agent = try volume.agent()
            agent.shell(
                """
                set -e; mkdir project; cd project
                for part in 1 2 3 4 5 6; do
                    printf '#include "part.h"\\nint part%d(void) { return %d; }\\n' $part $part \\
                        > part$part.c
                    echo "int part$part(void);" >> part.h
                done
                cat > main.c <<'END'
                #include <stdio.h>
                #include "part.h"
                int main(void) {
                    return printf("%d\\n", part1() + part2() + part3() + part4() + part5() + part6()) < 0;
                }
                END
                cat > Makefile <<'END'
                OBJECTS = main.o part1.o part2.o part3.o part4.o part5.o part6.o
                program: libparts.a main.o ; $(CC) -o $@ main.o libparts.a
                libparts.a: $(filter-out main.o,$(OBJECTS)) ; ar rcs $@ $^
                $(OBJECTS): part.h
                %.o: %.c ; @echo compiling $< >> log; $(CC) -O1 -c -o $@ $<
                END
                make -s -j4; test "$(./program)" = 21; test "$(wc -l < log)" = 7; make -q
                """)
            agent.shell(
                """
                set -e; cd project; : > log; sleep 0.02; sed -i 's/return 3/return 30/' part3.c
                make -s -j4; test "$(./program)" = 48; test "$(cat log)" = 'compiling part3.c'
                make -q; cp program running; ./running
                """)
            try volume.remount()
            let after = try volume.agent()
            after.shell("cd project && make -q && test \"$(./program)\" = 48")
            after.shell(
                "cd project && : > log && touch part.h && make -s && test $(wc -l < log) = 7")
        }
    }
}
