use crate::host::by_host;
use crate::settings::{Settings, settings_methods};
use crate::stages::Plan;
use crate::{Error, Program, Source};
use strew_affine::Combiner;
use strew_jit::Element;
use strew_transforms::Schedule;

/// Compiles sources. What is set here holds for every kernel, unless the kernel or the call sets it
/// again.
#[derive(Clone, Debug, Default)]
pub struct Compiler {
    plan: Plan,
    settings: Settings,
    reductions: Vec<Combiner>,
    kernel: Option<String>,
}

impl Compiler {
    /// A compiler that finds schedules itself, runs on all cores and gives the same bits at any
    /// number of threads.
    pub fn new() -> Self {
        Self::default()
    }

    /// Applies `schedule` instead of finding one; an empty one leaves the loops as they were
    /// written.
    pub fn schedule(mut self, schedule: Schedule) -> Self {
        self.plan = Plan::Explicit(schedule);
        self
    }

    /// Compiles the kernel `name` alone of each source: of a C source all is left aside that it
    /// does not need, so that there may be anything beside it, as in a program that prints what it
    /// found.
    ///
    /// ```
    /// const SOURCE: &str = r#"
    /// #include <stdio.h>
    ///
    /// static void scale(int64_t n, double a, double x[n]) {
    ///   for (int64_t i = 0; i < n; i++)
    ///     x[i] *= a;
    /// }
    ///
    /// void report(FILE *to, double x) { fprintf(to, "%g\n", x); }"#;
    ///
    /// let program = strew::Compiler::new().for_kernel("scale").compile("scale.c", SOURCE)?;
    /// let mut x = [1.0, 2.0];
    /// program.kernel("scale")?.bind().scalar("a", 3.0).array_mut("x", &mut x).run()?;
    /// assert_eq!(x, [3.0, 6.0]);
    /// # Ok::<(), strew::Error>(())
    /// ```
    pub fn for_kernel(mut self, name: impl Into<String>) -> Self {
        self.kernel = Some(name.into());
        self
    }

    /// Lets sources combine by a function of this program: `identity` changes nothing when it comes
    /// to anything, and `function` is given what is held and what comes.
    ///
    /// A C source declares it, as `double name(double a, double b);`, and updates by it, as
    /// `out[k] = name(out[k], x);`. Before it is used it is tried on samples; where it does not
    /// keep the laws, the source has a warning with the values, and its updates stay in order. A
    /// kernel text says `reduction @name(a, b: f64) identity(…)`, and is taken at its word.
    ///
    /// A panic in it is a fault of the call, and all outputs are then as they were. Updates may be
    /// combined on several threads at once.
    ///
    /// ```
    /// const SOURCE: &str = "
    /// uint64_t gcd(uint64_t a, uint64_t b);
    ///
    /// void gcds(int64_t n, int64_t m, const int32_t key[n], const uint64_t x[n], uint64_t out[m]) {
    ///   for (int64_t i = 0; i < n; i++)
    ///     out[key[i]] = gcd(out[key[i]], x[i]);
    /// }";
    ///
    /// fn gcd(a: u64, b: u64) -> u64 {
    ///     if b == 0 { a } else { gcd(b, a % b) }
    /// }
    ///
    /// let program = strew::Compiler::new().reduction("gcd", 0, gcd).compile("gcds.c", SOURCE)?;
    /// assert!(program.warnings().to_string().is_empty());
    /// let mut out = [0_u64, 0];
    /// let call = program.kernel("gcds")?.bind();
    /// let call = call.array("key", &[0, 1, 0]).array("x", &[12_u64, 7, 18]);
    /// call.array_mut("out", &mut out).run()?;
    /// assert_eq!(out, [6, 7]);
    /// # Ok::<(), strew::Error>(())
    /// ```
    pub fn reduction<T: Element>(
        mut self,
        name: impl Into<String>,
        identity: T,
        function: impl Fn(T, T) -> T + Send + Sync + 'static,
    ) -> Self {
        self.reductions
            .push(by_host(name.into(), identity, function));
        self
    }

    fn settings_mut(&mut self) -> &mut Settings {
        &mut self.settings
    }

    settings_methods!();

    /// Compiles `source`, the text of the file `name`: kernel text when the name ends in `.nest`,
    /// else C.
    ///
    /// # Errors
    /// The errors in the text, all that were found, with their lines.
    pub fn compile(
        &self,
        name: impl Into<String>,
        source: impl Into<String>,
    ) -> Result<Program, Error> {
        let mut source = Source::new(name, source).with_reductions(&self.reductions);
        if let Some(kernel) = &self.kernel {
            source = source.for_kernel(kernel);
        }
        let parsed = source.parse()?;
        Ok(Program::new(
            parsed,
            self.plan.clone(),
            self.settings.clone(),
        ))
    }
}
