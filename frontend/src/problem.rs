//! Everything the front end can object to, and the only place that words it.

use crate::Severity;
use std::fmt;
use strew_affine::Type;

/// What is wrong with a source text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// A character that no C token starts with.
    UnexpectedCharacter(char),
    /// `/*` without `*/`.
    UnterminatedComment,
    /// Something that starts like a number and is none.
    BadNumber {
        /// As written.
        text: String,
        /// What the number is not.
        why: NumberFault,
    },
    /// A preprocessing directive that cannot be carried out.
    Directive {
        /// The word behind the `#`.
        name: String,
        /// What is wrong with it.
        why: DirectiveFault,
    },
    /// An `#error` line.
    ErrorDirective {
        /// What it says.
        text: String,
    },
    /// An `#include` of something that is no standard header: it is not read.
    UnreadHeader {
        /// The header.
        name: String,
    },
    /// A use of a macro with too few or too many arguments.
    MacroArguments {
        /// The macro.
        name: String,
        /// How many parameters it has.
        expected: usize,
        /// How many arguments there are.
        found: usize,
    },
    /// A use of a macro whose parenthesis is not closed.
    MacroCallOpen {
        /// The macro.
        name: String,
    },
    /// Macros expand to more tokens than are accepted.
    ExpansionTooLong {
        /// How many tokens are accepted.
        limit: usize,
    },
    /// Macros expand to macros too many times.
    ExpansionTooDeep {
        /// How many levels are accepted.
        limit: usize,
    },
    /// Parentheses, brackets, braces, operators or statements nest too deeply.
    NestingTooDeep {
        /// How many levels are accepted.
        limit: usize,
    },
    /// One statement has too many tokens.
    StatementTooLong {
        /// How many tokens are accepted.
        limit: usize,
    },
    /// The parser met something else than what can stand there.
    Expected {
        /// What can stand there, in human words.
        expected: Vec<String>,
        /// What was met, in human words.
        found: String,
    },
    /// Valid C that the language does not have.
    Unsupported(Unsupported),
    /// The file defines no function.
    NoFunction,
    /// Words that together name no type.
    NotAType {
        /// As written.
        text: String,
    },
    /// A variable, an element or a cast of type `void`.
    VoidValue,
    /// `struct x` or `enum x` where nothing of that name is declared.
    UnknownTag {
        /// With the word in front.
        name: String,
    },
    /// A member that a structure does not have.
    UnknownMember {
        /// The member.
        name: String,
        /// The structure; absent where there is none.
        of: Option<String>,
    },
    /// A constant array whose values too many kernels would have to hold.
    ConstantsTooLong {
        /// How many values, and statements and expressions of calls, all kernels may have together.
        limit: usize,
    },
    /// A structure with too many members.
    TooManyMembers {
        /// How many are accepted.
        limit: usize,
    },
    /// A structure where a number is needed.
    StructureAsValue {
        /// The structure.
        name: String,
    },
    /// Something that has to be known before anything runs and is not.
    NotConstant,
    /// An enumeration constant that no `int` holds.
    EnumeratorRange {
        /// The constant.
        name: String,
    },
    /// `sizeof` of something whose size is not constant.
    SizeUnknown,
    /// A pointer that is used before it points anywhere, or that points into rows from the beginning.
    PointerUnset {
        /// The pointer.
        name: String,
    },
    /// A pointer to elements of another type or shape than those of the array.
    PointerMismatch {
        /// The pointer.
        name: String,
        /// The array.
        array: String,
    },
    /// A pointer is set to, or compared with, one into another array.
    PointerElsewhere {
        /// The array on the left.
        from: String,
        /// The array on the right.
        to: String,
    },
    /// A number where a pointer is needed.
    NumberAsPointer,
    /// An operator that pointers do not have.
    PointerOperands {
        /// As written.
        operator: &'static str,
    },
    /// Something else where a structure of one kind is needed.
    NotTheStructure {
        /// The structure.
        name: String,
    },
    /// An array with an initial value that is no list in braces.
    ArrayWithoutBraces,
    /// More braces than the array has dimensions.
    TooManyBraces,
    /// More initial values than there are elements.
    TooManyInitializers,
    /// Initial values for an array whose length is not constant.
    InitializedVariableLength {
        /// The array.
        array: String,
    },
    /// A word such as `static` where it has no meaning.
    MisplacedWord(&'static str),
    /// `{ … }` where one value is needed.
    MisplacedBraces,
    /// A parameter without a name.
    UnnamedParameter,
    /// `a[]` without a length.
    MissingLength {
        /// The array.
        array: String,
    },
    /// A length that is not an affine function of integer parameters and constants.
    LengthNotAffine {
        /// The array.
        array: String,
    },
    /// A name that nothing visible has.
    UnknownName {
        /// The name.
        name: String,
        /// The visible name that is spelled most like it.
        nearest: Option<String>,
    },
    /// Two things of one name in one scope.
    Duplicate {
        /// The name.
        name: String,
    },
    /// A function that calls itself, perhaps by way of others.
    Recursion {
        /// The functions, each of which calls the next and the last of which the first.
        cycle: Vec<String>,
    },
    /// A call of a function that nothing declares.
    UnknownFunction {
        /// The function.
        function: String,
        /// The function that is spelled most like it.
        nearest: Option<String>,
    },
    /// A call of a function that is declared only.
    NotDefined {
        /// The function.
        function: String,
    },
    /// A call of a function on `long double`.
    LongDouble {
        /// The function.
        function: String,
        /// The function on `double`.
        double: String,
    },
    /// Too few or too many arguments.
    ArgumentCount {
        /// The function.
        function: String,
        /// How many parameters it has.
        expected: usize,
        /// How many arguments there are.
        found: usize,
    },
    /// A value where a function takes an array.
    ArgumentNotArray {
        /// The parameter.
        parameter: String,
    },
    /// An array whose elements or lengths are not those of the parameter.
    ArgumentShape {
        /// The array.
        array: String,
        /// Its type.
        found: String,
        /// The parameter.
        parameter: String,
        /// The type of that.
        expected: String,
    },
    /// A `const` array where a function takes one that it may write.
    ArgumentConst {
        /// The array.
        array: String,
        /// The parameter.
        parameter: String,
    },
    /// Calls are inside of too many other calls.
    CallsTooDeep {
        /// How many levels of functions, statements and expressions are accepted.
        limit: usize,
    },
    /// Calls make the kernels of a file too large.
    CallsTooLong {
        /// How many statements and expressions they may add.
        limit: usize,
    },
    /// Subscripts on something that is not an array.
    NotAnArray {
        /// What is subscripted.
        name: Option<String>,
    },
    /// An array without subscripts where a value is needed.
    ArrayAsValue {
        /// The array.
        array: String,
    },
    /// Too few or too many subscripts.
    SubscriptCount {
        /// The array.
        array: String,
        /// How many dimensions it has.
        dimensions: usize,
        /// How many subscripts there are.
        found: usize,
    },
    /// A subscript of floating type.
    SubscriptNotInteger {
        /// The array.
        array: String,
        /// The type of the subscript.
        ty: Type,
    },
    /// A store to something declared `const`.
    AssignToConst {
        /// What is stored to.
        name: String,
    },
    /// A store to something that is no variable and no array element.
    NotAssignable,
    /// An operator of integers with a floating operand.
    IntegerOperator {
        /// As written.
        operator: &'static str,
        /// The type of the operand.
        ty: Type,
    },
    /// `#pragma strew` in front of something that is not a `for` loop.
    PragmaWithoutLoop,
    /// `#pragma strew` in front of a loop whose iterations cannot be counted.
    PragmaOnUncountedLoop {
        /// Why they cannot.
        why: Uncounted,
    },
    /// A local that is read before anything was assigned to it.
    ReadBeforeAssigned {
        /// The local.
        name: String,
    },
    /// A statement that computes something and drops it.
    NoEffect,
    /// A statement that control never comes to.
    Unreachable,
    /// `break` or `continue` with nothing around it to leave.
    JumpNowhere(&'static str),
    /// `return;` in a function that returns a value.
    ReturnWithoutValue,
    /// `return value;` in a function that is `void`.
    ReturnFromVoid,
    /// A function that returns a value and ends without `return`.
    MissingReturn {
        /// The function.
        function: String,
    },
    /// A `switch` on a value of floating type.
    SwitchNotInteger {
        /// The type of the value.
        ty: Type,
    },
    /// A `case` label that is not an integer constant.
    CaseNotConstant,
    /// A label that the `switch` has already.
    DuplicateCase,
    /// `case` or `default` that no `switch` is directly around.
    MisplacedCase,
}

/// What is wrong with a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberFault {
    /// No form of a number that C has.
    Malformed,
    /// An integer that no 64-bit type holds.
    TooLarge,
}

/// What is wrong with a directive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DirectiveFault {
    /// Not part of the language.
    Unsupported,
    /// `#define NAME(parameters, ...)`.
    Variadic,
    /// Something else than names between the parentheses of a `#define`, or a name twice.
    BadParameters,
    /// `#` or `##` in what a macro expands to.
    HashOperator,
    /// What follows `#if` or `#elif` is no integer constant expression.
    BadCondition,
    /// The condition of an `#if` divides by zero.
    DivisionByZero,
    /// `#elif`, `#else` or `#endif` without an `#if`.
    WithoutIf,
    /// `#elif` or `#else` behind an `#else`.
    AfterElse,
    /// An `#if` without an `#endif`.
    Unclosed,
    /// A directive between the arguments of a macro.
    InsideCall,
    /// `#define` or `#undef` without a name.
    MissingName,
    /// A `#` that is not the first thing on its line.
    NotFirstOnLine,
}

/// Valid C that the language does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unsupported {
    /// A keyword or operator of C, as written.
    Word(String),
    /// A declaration between the labels of a `switch`.
    DeclarationInSwitch,
    /// `goto`
    Goto,
    /// A string literal.
    Text,
    /// A pointer type in a cast or in `sizeof`.
    PointerType,
    /// A function that returns a pointer.
    PointerReturned,
    /// A `typedef` of a pointer or array type.
    TypedefOfPointer {
        /// The name that it declares.
        name: String,
    },
    /// A member that is no scalar.
    Member {
        /// Its name.
        name: String,
    },
    /// A structure as a parameter or a local.
    Structure {
        /// What is declared.
        name: String,
    },
    /// A pointer where a number is needed.
    PointerAsValue,
    /// `&x` of something that is no array element.
    AddressOf,
    /// `condition ? p : q` of pointers.
    PointerChoice,
    /// An array of structures with initial values.
    InitializedRecord {
        /// The array.
        name: String,
    },
    /// A pointer parameter or local.
    Pointer {
        /// Its name.
        name: String,
    },
    /// A variable declared outside of functions.
    FileScopeVariable,
}

/// Why a `for` loop has no iterator in the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Uncounted {
    /// The condition does not compare a variable, to which every turn adds the same, with a bound.
    Header,
    /// The iterator is assigned in the body too.
    IteratorAssigned,
    /// What the bound is computed from changes in the loop.
    BoundChanges,
    /// The iterator could wrap around before it reaches the bound.
    MayWrap,
    /// `break` or `return` in the body ends it early.
    Left,
}

impl Problem {
    /// Whether kernels can still be made.
    pub fn severity(&self) -> Severity {
        match self {
            Self::ReadBeforeAssigned { .. }
            | Self::NoEffect
            | Self::UnreadHeader { .. }
            | Self::Unreachable
            | Self::MissingReturn { .. } => Severity::Warning,
            _ => Severity::Error,
        }
    }

    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::UnexpectedCharacter(_) => "E001",
            Self::UnterminatedComment => "E002",
            Self::BadNumber { .. } => "E003",
            Self::Directive { .. } => "E004",
            Self::ExpansionTooLong { .. } => "E005",
            Self::ExpansionTooDeep { .. } => "E006",
            Self::NestingTooDeep { .. } => "E007",
            Self::StatementTooLong { .. } => "E008",
            Self::ErrorDirective { .. } => "E009",
            Self::MacroArguments { .. } => "E013",
            Self::MacroCallOpen { .. } => "E014",
            Self::Expected { .. } => "E010",
            Self::Unsupported(_) => "E011",
            Self::NoFunction => "E012",
            Self::NotAType { .. } => "E021",
            Self::VoidValue => "E022",
            Self::MisplacedWord(_) => "E023",
            Self::MisplacedBraces => "E027",
            Self::UnknownTag { .. } => "E033",
            Self::UnknownMember { .. } => "E034",
            Self::StructureAsValue { .. } => "E047",
            Self::TooManyMembers { .. } => "E049",
            Self::ConstantsTooLong { .. } => "E089",
            Self::PointerUnset { .. } => "E080",
            Self::PointerMismatch { .. } => "E081",
            Self::PointerElsewhere { .. } => "E082",
            Self::PointerOperands { .. } => "E083",
            Self::NumberAsPointer => "E084",
            Self::NotTheStructure { .. } => "E048",
            Self::NotConstant => "E070",
            Self::EnumeratorRange { .. } => "E071",
            Self::SizeUnknown => "E072",
            Self::ArrayWithoutBraces => "E073",
            Self::TooManyBraces => "E074",
            Self::TooManyInitializers => "E075",
            Self::InitializedVariableLength { .. } => "E076",
            Self::UnnamedParameter => "E024",
            Self::MissingLength { .. } => "E025",
            Self::LengthNotAffine { .. } => "E026",
            Self::UnknownName { .. } => "E030",
            Self::Duplicate { .. } => "E031",
            Self::Recursion { .. } => "E032",
            Self::UnknownFunction { .. } => "E080",
            Self::NotDefined { .. } => "E081",
            Self::LongDouble { .. } => "E082",
            Self::ArgumentCount { .. } => "E083",
            Self::ArgumentNotArray { .. } => "E084",
            Self::ArgumentShape { .. } => "E085",
            Self::ArgumentConst { .. } => "E086",
            Self::CallsTooDeep { .. } => "E087",
            Self::CallsTooLong { .. } => "E088",
            Self::NotAnArray { .. } => "E040",
            Self::ArrayAsValue { .. } => "E041",
            Self::SubscriptCount { .. } => "E042",
            Self::SubscriptNotInteger { .. } => "E043",
            Self::AssignToConst { .. } => "E044",
            Self::NotAssignable => "E045",
            Self::IntegerOperator { .. } => "E046",
            Self::PragmaWithoutLoop => "E050",
            Self::PragmaOnUncountedLoop { .. } => "E051",
            Self::ReadBeforeAssigned { .. } => "W001",
            Self::NoEffect => "W002",
            Self::UnreadHeader { .. } => "W010",
            Self::Unreachable => "W003",
            Self::MissingReturn { .. } => "W004",
            Self::JumpNowhere(_) => "E060",
            Self::ReturnWithoutValue => "E061",
            Self::ReturnFromVoid => "E062",
            Self::SwitchNotInteger { .. } => "E063",
            Self::CaseNotConstant => "E064",
            Self::DuplicateCase => "E065",
            Self::MisplacedCase => "E066",
        }
    }

    /// What to do about it.
    pub fn help(&self) -> Option<String> {
        let help = match self {
            Self::UnterminatedComment => "close the comment with `*/`".to_owned(),
            Self::Directive { why, .. } => return why.help().map(str::to_owned),
            Self::UnreadHeader { .. } => {
                "put what the kernels need from it into this file".to_owned()
            }
            Self::MacroCallOpen { .. } => "close it with `)`".to_owned(),
            Self::NestingTooDeep { .. } | Self::StatementTooLong { .. } => {
                "compute parts of it in statements of their own".to_owned()
            }
            Self::Unsupported(it) => return it.help(),
            Self::NoFunction => {
                "define a kernel: `void name(int64_t n, double out[n]) { … }`".to_owned()
            }
            Self::ConstantsTooLong { .. } => {
                "make the array a parameter of the kernels".to_owned()
            }
            Self::PointerUnset { .. } => {
                "give it its first value where it is declared: `double *p = a;`".to_owned()
            }
            Self::PointerElsewhere { .. } => {
                "a pointer stays inside of one array; declare another one for the other array"
                    .to_owned()
            }
            Self::NotConstant => {
                "literals, constants and operators on them are accepted; calls and variables are not"
                    .to_owned()
            }
            Self::ArrayWithoutBraces => "write the values in braces: `{1, 2, 3}`".to_owned(),
            Self::InitializedVariableLength { .. } => {
                "leave the values out: the elements are 0 at first".to_owned()
            }
            Self::StructureAsValue { .. } => "name one of its members".to_owned(),
            Self::MissingLength { array } => {
                format!("give the length as a parameter in front of it: `{array}[n]`")
            }
            Self::LengthNotAffine { .. } => {
                "a length is a short sum of integer parameters, products of them, and constants"
                    .to_owned()
            }
            Self::UnknownName { nearest, .. } => {
                return nearest.as_ref().map(|it| format!("did you mean `{it}`?"));
            }
            Self::Recursion { .. } => "write a loop".to_owned(),
            Self::UnknownFunction { nearest: None, .. } => {
                "the functions of the file and those of `math.h` can be called".to_owned()
            }
            Self::UnknownFunction {
                nearest: Some(nearest),
                ..
            } => format!("did you mean `{nearest}`?"),
            Self::NotDefined { .. } => "define it in this file".to_owned(),
            Self::LongDouble { double, .. } => {
                format!("call `{double}`; there is no `long double`")
            }
            Self::ArgumentNotArray { .. } => "hand over an array by its name".to_owned(),
            Self::ArgumentShape { .. } => {
                "all lengths but the first have to be the same".to_owned()
            }
            Self::ArgumentConst { parameter, .. } => {
                format!("declare `{parameter}` `const` if the function only reads it")
            }
            Self::CallsTooDeep { .. } | Self::CallsTooLong { .. } => {
                "the body of a function is put in at each call: call less, or make functions smaller"
                    .to_owned()
            }
            Self::ArrayAsValue { array } => format!("name one element: `{array}[i]`"),
            Self::SubscriptNotInteger { .. } => {
                "convert it to an integer, for example with a cast `(int64_t)`".to_owned()
            }
            Self::AssignToConst { .. } => "leave out the `const` in its declaration".to_owned(),
            Self::PragmaWithoutLoop => "put it on the line above a `for` loop".to_owned(),
            Self::PragmaOnUncountedLoop { why } => why.help().to_owned(),
            Self::ReadBeforeAssigned { .. } => {
                "its value is 0 until then; write `= 0` if that is meant".to_owned()
            }
            Self::MissingReturn { .. } => {
                "it returns 0 then; end it with `return value;`".to_owned()
            }
            Self::ReturnWithoutValue => "write `return value;`".to_owned(),
            Self::ReturnFromVoid => {
                "write `return;`, or declare the function with the type of the value".to_owned()
            }
            Self::SwitchNotInteger { .. } => "write `if … else if …`".to_owned(),
            Self::CaseNotConstant => {
                "a label is an integer constant; compare with variables in an `if`".to_owned()
            }
            Self::MisplacedCase => {
                "labels stand directly in the braces of their `switch`".to_owned()
            }
            _ => return None,
        };
        Some(help)
    }
}

impl DirectiveFault {
    fn help(self) -> Option<&'static str> {
        let help = match self {
            Self::Unsupported => {
                "`#define`, `#undef`, `#if` and its relatives, `#include`, `#error` and `#pragma` are accepted"
            }
            Self::Variadic => "give every argument a name",
            Self::BadParameters => "write names with commas in between, as in `#define MAX(a, b)`",
            Self::HashOperator => "write the names and texts out",
            Self::BadCondition => {
                "integers, `defined(NAME)` and C's operators on them are accepted"
            }
            Self::MissingName => "a name follows, as in `#define SIZE 16`",
            Self::NotFirstOnLine => "put the directive on a line of its own",
            Self::Unclosed => "close it with `#endif`",
            Self::InsideCall => "put it in front of the macro's use",
            Self::DivisionByZero | Self::WithoutIf | Self::AfterElse => return None,
        };
        Some(help)
    }
}

impl Unsupported {
    fn help(&self) -> Option<String> {
        let help = match self {
            Self::Word(word) => match word.as_str() {
                "union" => "give every member an array of its own",
                _ => return None,
            },
            Self::DeclarationInSwitch => "put the statements behind the label into braces",
            Self::Goto => "write a loop or an `if`",
            Self::Text => return None,
            Self::PointerAsValue => "compare pointers with each other, or name an element",
            Self::AddressOf => "take the address of an array element: `&a[i]`",
            Self::PointerChoice => "choose between elements, or between positions in one array",
            Self::InitializedRecord { .. } => "assign to the elements",
            Self::Pointer { name } => {
                return Some(format!(
                    "declare the array with its length: `{name}[n]`, where `n` is a parameter"
                ));
            }
            Self::PointerType => "leave the cast out",
            Self::PointerReturned => "hand results over in an array parameter",
            Self::TypedefOfPointer { .. } => "give a name to the type of the elements",
            Self::Member { .. } => {
                "declare scalar members only, and other data as arrays of their own"
            }
            Self::Structure { .. } => "give every member an array of its own",
            Self::FileScopeVariable => "make it a parameter, or `const`",
        };
        Some(help.to_owned())
    }
}

impl Uncounted {
    fn help(self) -> &'static str {
        match self {
            Self::Header => "write it as `for (int64_t i = first; i < end; i++)`",
            Self::IteratorAssigned => "leave the iterator alone in the body",
            Self::BoundChanges => "copy the bound into a `const` local in front of the loop",
            Self::MayWrap => "declare the iterator `int64_t` and compare with `<`",
            Self::Left => "let it run to its end, or leave the pragma out",
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnexpectedCharacter(it) => write!(f, "no C token starts with {it:?}"),
            Self::UnterminatedComment => f.write_str("this comment is not closed"),
            Self::BadNumber { text, why } => write!(f, "`{}` {why}", clipped(text)),
            Self::Directive { name, why } if name.is_empty() => write!(f, "this directive {why}"),
            Self::Directive { name, why } => write!(f, "`#{}` {why}", clipped(name)),
            Self::ErrorDirective { text } => write!(f, "{}", clipped(text)),
            Self::UnreadHeader { name } => {
                write!(
                    f,
                    "`{}` is not read: it is no standard header",
                    clipped(name)
                )
            }
            Self::MacroArguments {
                name,
                expected,
                found,
            } => write!(
                f,
                "the macro `{}` has {expected} parameter{}, here it has {found} argument{}",
                clipped(name),
                plural(*expected),
                plural(*found)
            ),
            Self::MacroCallOpen { name } => {
                write!(
                    f,
                    "the arguments of the macro `{}` do not end",
                    clipped(name)
                )
            }
            Self::ExpansionTooLong { limit } => {
                write!(f, "macros expand to more than {limit} tokens")
            }
            Self::ExpansionTooDeep { limit } => {
                write!(f, "macros expand to macros more than {limit} times")
            }
            Self::NestingTooDeep { limit } => write!(f, "this nests more than {limit} levels deep"),
            Self::StatementTooLong { limit } => {
                write!(f, "this statement has more than {limit} tokens")
            }
            Self::Expected { expected, found } => {
                write!(f, "expected {}, found {found}", alternatives(expected))
            }
            Self::Unsupported(it) => it.fmt(f),
            Self::NoFunction => f.write_str("there is no function in this file"),
            Self::NotAType { text } => write!(f, "`{text}` is not a type of the language"),
            Self::VoidValue => f.write_str("`void` has no values"),
            Self::MisplacedWord(word) => write!(f, "`{word}` has no meaning here"),
            Self::UnknownTag { name } => write!(f, "nothing is called `{}` here", clipped(name)),
            Self::UnknownMember { name, of: Some(of) } => {
                write!(f, "`{}` has no member `{}`", clipped(of), clipped(name))
            }
            Self::UnknownMember { name, of: None } => {
                write!(f, "`{}` is a member of nothing here", clipped(name))
            }
            Self::StructureAsValue { name } => {
                write!(
                    f,
                    "the structure `{}` stands where a number is needed",
                    clipped(name)
                )
            }
            Self::PointerUnset { name } => {
                write!(
                    f,
                    "the pointer `{}` does not point into an array here",
                    clipped(name)
                )
            }
            Self::PointerMismatch { name, array } => {
                write!(
                    f,
                    "`{name}` does not point to elements like those of `{array}`"
                )
            }
            Self::PointerElsewhere { from, to } if from == to => {
                write!(f, "these pointers are in different rows of `{from}`")
            }
            Self::PointerElsewhere { from, to } => {
                write!(f, "a pointer into `{from}` meets one into `{to}`")
            }
            Self::NumberAsPointer => f.write_str("a number stands where a pointer is needed"),
            Self::PointerOperands { operator } => {
                write!(f, "`{operator}` does not work on these pointers")
            }
            Self::NotTheStructure { name } => {
                write!(f, "this is no structure `{}`", clipped(name))
            }
            Self::ConstantsTooLong { limit } => {
                write!(
                    f,
                    "the kernels need more than {limit} values of constant arrays and calls"
                )
            }
            Self::TooManyMembers { limit } => {
                write!(f, "this structure has more than {limit} members")
            }
            Self::NotConstant => f.write_str("this has to be constant"),
            Self::EnumeratorRange { name } => {
                write!(f, "the constant `{}` does not fit an `int`", clipped(name))
            }
            Self::SizeUnknown => f.write_str("the size of this is not constant"),
            Self::ArrayWithoutBraces => f.write_str("an array is initialised by a list in braces"),
            Self::TooManyBraces => f.write_str("there are more braces here than dimensions"),
            Self::TooManyInitializers => {
                f.write_str("this initial value is beyond the end of the array")
            }
            Self::InitializedVariableLength { array } => {
                write!(
                    f,
                    "`{array}` has initial values, but its length is not constant"
                )
            }
            Self::MisplacedBraces => {
                f.write_str("values in braces stand where one number is needed")
            }
            Self::UnnamedParameter => f.write_str("this parameter has no name"),
            Self::MissingLength { array } => write!(f, "the array `{array}` has no length"),
            Self::LengthNotAffine { array } => {
                write!(
                    f,
                    "this length of `{array}` is not known when the kernel is called"
                )
            }
            Self::UnknownName { name, .. } => {
                write!(f, "nothing is called `{}` here", clipped(name))
            }
            Self::Duplicate { name } => write!(f, "`{name}` is declared twice"),
            Self::Recursion { cycle } => recursion(f, cycle),
            Self::UnknownFunction { function, .. } => {
                write!(f, "there is no function `{}`", clipped(function))
            }
            Self::NotDefined { function } => {
                write!(f, "`{function}` is declared here, but not defined")
            }
            Self::LongDouble { function, .. } => {
                write!(f, "`{function}` computes in `long double`")
            }
            Self::ArgumentCount {
                function,
                expected,
                found,
            } => write!(
                f,
                "`{function}` takes {expected} argument{}, here it gets {found}",
                plural(*expected)
            ),
            Self::ArgumentNotArray { parameter } => {
                write!(f, "`{parameter}` is an array, this is not")
            }
            Self::ArgumentShape {
                array,
                found,
                parameter,
                expected,
            } => write!(
                f,
                "`{array}` is `{found}`, the parameter `{parameter}` is `{expected}`"
            ),
            Self::ArgumentConst { array, parameter } => {
                write!(
                    f,
                    "`{array}` is `const`, the parameter `{parameter}` is not"
                )
            }
            Self::CallsTooDeep { limit } => {
                write!(f, "calls reach more than {limit} levels deep")
            }
            Self::CallsTooLong { limit } => {
                write!(f, "calls add more than {limit} statements and expressions")
            }
            Self::NotAnArray { name: Some(name) } => write!(f, "`{name}` is not an array"),
            Self::NotAnArray { name: None } => f.write_str("only an array can have subscripts"),
            Self::ArrayAsValue { array } => {
                write!(f, "the array `{array}` stands where a number is needed")
            }
            Self::SubscriptCount {
                array,
                dimensions,
                found,
            } => write!(
                f,
                "`{array}` has {dimensions} dimension{}, here it has {found} subscript{}",
                plural(*dimensions),
                plural(*found)
            ),
            Self::SubscriptNotInteger { array, ty } => {
                write!(f, "this subscript of `{array}` is a `{}`", c_name(*ty))
            }
            Self::AssignToConst { name } => write!(f, "`{name}` is `const`"),
            Self::NotAssignable => f.write_str("this cannot be assigned to"),
            Self::IntegerOperator { operator, ty } => {
                write!(
                    f,
                    "`{operator}` needs integers, this is a `{}`",
                    c_name(*ty)
                )
            }
            Self::PragmaWithoutLoop => f.write_str("no `for` loop follows this `#pragma strew`"),
            Self::PragmaOnUncountedLoop { why } => {
                write!(f, "the loop cannot be scheduled: {why}")
            }
            Self::ReadBeforeAssigned { name } => {
                write!(f, "`{name}` is read before anything was assigned to it")
            }
            Self::NoEffect => f.write_str("this statement has no effect"),
            Self::Unreachable => f.write_str("this statement is never reached"),
            Self::JumpNowhere("continue") => f.write_str("`continue` stands outside of any loop"),
            Self::JumpNowhere(word) => {
                write!(f, "`{word}` stands outside of any loop and `switch`")
            }
            Self::ReturnWithoutValue => f.write_str("this `return` lacks a value"),
            Self::ReturnFromVoid => f.write_str("a `void` function returns no value"),
            Self::MissingReturn { function } => {
                write!(f, "`{function}` can end without returning a value")
            }
            Self::SwitchNotInteger { ty } => {
                write!(f, "`switch` needs an integer, this is a `{}`", c_name(*ty))
            }
            Self::CaseNotConstant => f.write_str("this label is not an integer constant"),
            Self::DuplicateCase => f.write_str("this `switch` has the label twice"),
            Self::MisplacedCase => {
                f.write_str("this label stands outside of the braces of a `switch`")
            }
        }
    }
}

impl fmt::Display for NumberFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Malformed => "is not a number",
            Self::TooLarge => "is larger than any 64-bit integer",
        })
    }
}

impl fmt::Display for DirectiveFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unsupported => "is not in the language",
            Self::Variadic => "with `...` is not in the language",
            Self::BadParameters => "needs names between its parentheses, each only once",
            Self::HashOperator => "with `#` or `##` in it is not in the language",
            Self::BadCondition => "needs an integer constant expression",
            Self::DivisionByZero => "divides by zero",
            Self::WithoutIf => "has no `#if` before it",
            Self::AfterElse => "comes after the `#else`",
            Self::Unclosed => "is not closed",
            Self::InsideCall => "stands between the arguments of a macro",
            Self::MissingName => "lacks a name",
            Self::NotFirstOnLine => "is not the first thing on its line",
        })
    }
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Word(word) => write!(f, "`{word}` is not in the language yet"),
            Self::DeclarationInSwitch => {
                f.write_str("a declaration between the labels of a `switch` is not in the language")
            }
            Self::Goto => f.write_str("`goto` is not in the language"),
            Self::Text => f.write_str("string literals are not in the language"),
            Self::PointerAsValue => f.write_str("a pointer stands where a number is needed"),
            Self::AddressOf => f.write_str("only array elements have addresses"),
            Self::PointerChoice => f.write_str("a choice between pointers is not in the language"),
            Self::InitializedRecord { name } => {
                write!(
                    f,
                    "`{name}` is an array of structures with initial values; those are not in the language yet"
                )
            }
            Self::Pointer { name } => {
                write!(
                    f,
                    "`{name}` is a pointer; pointers are not in the language yet"
                )
            }
            Self::PointerType => f.write_str("pointer types are not in the language here"),
            Self::PointerReturned => {
                f.write_str("functions that return pointers are not in the language")
            }
            Self::TypedefOfPointer { name } => write!(
                f,
                "`{name}` names a pointer or array type; those cannot be given names"
            ),
            Self::Member { name } => write!(f, "the member `{name}` is no scalar"),
            Self::Structure { name } => {
                write!(
                    f,
                    "`{name}` is a structure; those are not in the language yet"
                )
            }
            Self::FileScopeVariable => {
                f.write_str("variables outside of functions are not in the language")
            }
        }
    }
}

impl fmt::Display for Uncounted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Header => "it does not count to a bound by the same amount in every turn",
            Self::IteratorAssigned => "its iterator is assigned in its body",
            Self::BoundChanges => "its bound changes while it runs",
            Self::MayWrap => "its iterator may wrap around before it reaches the bound",
            Self::Left => "`break` or `return` can end it early",
        })
    }
}

fn recursion(f: &mut fmt::Formatter<'_>, cycle: &[String]) -> fmt::Result {
    let (first, others) = match cycle {
        [first, others @ ..] => (first.as_str(), others),
        [] => ("it", [].as_slice()),
    };
    write!(f, "`{first}` calls itself")?;
    for (position, name) in others.iter().enumerate() {
        let word = if position == 0 { " through" } else { "," };
        write!(f, "{word} `{name}`")?;
    }
    f.write_str("; kernels cannot be recursive")
}

/// The name that C gives to `ty`.
pub(crate) fn c_name(ty: Type) -> &'static str {
    match ty {
        Type::Bool => "_Bool",
        Type::I8 => "int8_t",
        Type::I16 => "int16_t",
        Type::I32 => "int",
        Type::I64 => "int64_t",
        Type::U8 => "uint8_t",
        Type::U16 => "uint16_t",
        Type::U32 => "unsigned",
        Type::U64 => "uint64_t",
        Type::F32 => "float",
        Type::F64 => "double",
    }
}

fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}

/// `a`, `a or b`, `a, b or c`.
fn alternatives(words: &[String]) -> String {
    match words {
        [] => "something else".to_owned(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

/// Keeps a message readable when the text it quotes is a megabyte long.
fn clipped(text: &str) -> String {
    const LIMIT: usize = 40;
    if text.chars().count() <= LIMIT {
        return text.to_owned();
    }
    text.chars().take(LIMIT).chain("…".chars()).collect()
}
